// Package rules says who may approve what: change types, roles and owners, as base has them.
//
//	r, faults := rules.Compile(input)
//	contexts, err := r.Contexts(change, world, nil)
//
// A context is a change type with the people who may approve what its selectors allow in one changed file:
//
//   - Direct: the type is for the schema of the changed file, and a role binds the type to the file, or to all files of
//     the schema.
//   - Detected: the changed file names the bound file at a selector (when: added, removed, or the same on both sides),
//     or the bound file mentions the changed one (where: backrefs).
//   - Expanded: a type over another one lends its owners, over any number of hops; a trail ends circles.
//   - Inherited: an heir may do what its ancestors may, and a role that binds the heir counts for the ancestors.
//   - Implicit: the changed file names its owner itself.
//
// Rules are compiled from base alone. Head is only asked for the content of files, and for the users that it adds:
// these are told, and they approve nothing.
package rules
