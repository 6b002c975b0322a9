// Package edit changes single values of saas files, and leaves every other byte alone: comments,
// quotes, line ends, the order of keys, and a missing line end at the end of the file.
//
// [Apply] finds a target by its template, namespace and name, sets its ref and the config hashes
// of its promotion data, and adds a block of promotion data in the indentation of its neighbours
// if there is none.
//
//   - A target that is not found, or found twice, is refused.
//   - Anchors, aliases and merge keys on the way to a value are refused, since a change of one
//     place would change others.
//   - The result is parsed again. It must differ from the file in exactly the values that were to
//     be set, else it is refused. So a mistake of this package cannot reach a repository.
package edit
