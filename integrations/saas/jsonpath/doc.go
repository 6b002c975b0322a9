// Package jsonpath chooses values of a JSON document by paths of jsonpath_ng.ext, the language in
// which SaaS files select namespaces.
//
//	path, err := jsonpath.Parse(`$.namespace[?@.app.name =~ "^shop"]`)
//	values, err := path.Find(document)
//
// A path has names (a, 'a b', a,b), all members (*), positions ([0], [-1,2]), slices ([1:9:2]),
// filters ([?CONDITION & …]), descendants (a..b), unions (a | b), the choices a where b and
// a wherenot b, the value itself (@, `this`), the one above (`parent`), the document ($) and sizes (`len`).
// Its precedence is that of jsonpath_ng: | binds closer than a dot, and a bracket belongs to all that
// stands before it.
//
// Awkward cases:
//
//   - A slice of what is no list is a slice of the list with this one value: a[*] of an object is
//     the object.
//   - Members that are null count as missing, because qontract-reconcile leaves them out.
//   - What jsonpath_ng ends with an exception for is an error: a position of an object, a position
//     far below zero, an order between a text and a number, a text that must match true.
//   - So is a filter of an object in the document, into which jsonpath_ng would write. The document itself it
//     takes for the list of its values.
//   - Nothing is above the document, and nothing is found in that.
//   - Arithmetic, sorting and functions such as `split(…)` are a mistake, and so is a regular expression of =~
//     that Go cannot read. A pattern with classes such as \w is an error for a text that is not ASCII, because
//     both languages differ there.
//   - The members of an object come in the order of their names.
package jsonpath
