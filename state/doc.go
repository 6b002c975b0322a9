// Package state remembers documents between runs, in a folder.
//
// A document is bytes under a key such as "traces/3f2a/9c1d.json". What it
// means is its owner's business; owners write a version into it and ignore what
// they cannot read, so that nothing remembered ever blocks a run.
//
//   - A document is written as a whole or not at all, and is on disk before
//     [Dir.Write] returns. Several processes may write the same key at once: the
//     last one wins, and readers see one or the other.
//   - Keys are lower-case letters, digits, dot, dash and underscore between
//     slashes. Names that come from elsewhere become keys through [Name].
//   - Nothing outside the folder is read or written, whatever links are in it.
//   - The folder is made by the first write. One that is not there is empty.
//   - Who can write to the folder can make a check be skipped: it belongs to
//     those who may merge.
package state
