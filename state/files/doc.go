// Package files holds what tasks read of the files of their side, as evidence.
//
// A [List] has each name that a task opened, listed, ran or looked for, also in vain, with what
// it found there: the mode and the id of a file, the text of a link, the names in a folder, or
// that nothing is there. A program that is deterministic and gets the same answers does the same
// in another world, if every name of the list is the same there: see [World.Changed]. A file that
// was not read does not count, and neither does a new file in a folder that was not listed.
//
// What git does not track is evidence as well, by the digest of its content. Modules that Python
// compiled are left out, since they follow from their sources. Everything below .git counts as
// the commit of the side.
//
// A [Store] keeps lists in the state, each by its digest. A run refers to its list by an [ID].
package files
