// Package jsonpath chooses values of a JSON document by paths of jsonpath_ng.ext, the language in
// which SaaS files select namespaces.
//
//	path, err := jsonpath.Parse(`$.namespace[?@.app.name =~ "^shop"]`)
//	values, err := path.Find(document)
//
// A path has names (a, 'a b', a,b), all members (*), positions ([0], [-1,2]), slices ([1:9:2]),
// filters ([?CONDITION & …]), descendants (a..b), unions (a | b), the choices a where b and
// a wherenot b, the value itself (@, `this`), the one above (`parent`), the document ($) and sizes (`len`).
// Its precedence is that of jsonpath_ng: & and | bind closer than a dot, and a bracket belongs to all that
// stands before it.
//
// Awkward cases:
//
//   - A slice of what is no list is a slice of the list with this one value: a[*] of an object is
//     the object.
//   - Members that are null count as missing, because qontract-reconcile leaves them out. Null in a list is a value.
//   - What jsonpath_ng ends with an exception for is an error: a position of an object, a position
//     far below zero, an order between a text and a number, a text that must match true. 0, false and the empty
//     text have positions, at which nothing is.
//   - An & joins conditions only behind a comparison: [?@.a = 1 & @.b]. Behind a path alone it belongs to the path,
//     also in parentheses, and a search that gets there is an error.
//   - A filter takes the document itself, if it is an object, for the list of its members. So it does with an
//     object in a list that a slice made (a[*] of an object), and loses the first member. A filter of any other
//     object is an error, because jsonpath_ng answers and writes into the document, so that the next path finds
//     other values.
//   - [ParseSelector] reads a path without the extensions of jsonpath_ng where that works, and [Path.Places] says where
//     each value stands, takes null for a value also in objects, and writes [-1] as the position from the front. What
//     is not in the document (`len`, `sub(/PATTERN/, TEXT)`) has a sign in the place of a place.
//   - Nothing is above the document, and nothing is found in that.
//   - Arithmetic, sorting and functions other than `sub(…)` are a mistake, and so are @name for @.name and a
//     regular expression of =~ that Go cannot read. A pattern with classes such as \w is an error for a text that
//     is not ASCII, because both languages differ there.
//   - A name that begins with true or false needs quotes.
//   - The members of an object come in the order of their names.
package jsonpath
