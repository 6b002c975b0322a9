// Package writer changes objects of Kubernetes. Only the program reconciler has it.
//
//   - Every write is conditional: a creation on that nothing is there, a deletion on what was
//     read, a merge on what was read, and an apply too, if its object carries uid and
//     resourceVersion. It is sent again only if the server did nothing.
//   - What is merged belongs to us as an update, and an apply of the same field is in conflict
//     with it, until the fields are taken.
package writer
