// Package world knows the files of one side of a change, and makes folders with exactly these files in which tasks
// start.
//
// A [Tree] is the model: the files of a commit ([OfCommit]), of a working tree with all its edits and new files
// ([OfWorkTree]), or of a folder without git ([OfFolder]). It holds paths, modes and git's ids of the contents; no file
// is written for it.
//
// A [Keeper] makes a folder of a tree, once for each id, and keeps it for later runs ([Keeper.Keep]). It links what it
// can from the most similar folder that it has. A [View] is what one task gets of a kept folder: an overlay at the path
// of the checkout where the system allows it, else hard links, else copies. It has a git folder of its own, which reads
// the objects of the repository and never writes there.
//
// Rules:
//
//   - No program that the repository names runs: no filter, no hook. Nothing is fetched.
//   - What the bytes of a file would be must be known. A commit with a file that a checkout would convert, or whose
//     content is not here, is not kept; the error names the file. Attributes are those of the commit, never those of
//     the checkout. Of a working tree, the bytes on disk are the truth.
//   - A half-made folder is never used, whenever a process is killed: it gets its name last. Each use looks at all
//     files of a folder, and makes a damaged one anew.
//   - A folder in use has a lock, and is not removed.
//
// Awkward cases:
//
//   - A kept file is compared by size, mode, inode and time of modification. The time of change is of no use, since
//     every hard link moves it. A task that makes a file writable, changes it in place and sets its time back is not
//     noticed; only tasks that do not run as root get hard links at all.
//   - The key of a kept commit stands for the settings that decide about conversions, but not for the attributes of the
//     user or of the machine in their default places. They are heeded when the folder is made.
//   - A file of a working tree that another filter than Git LFS converts counts as edited as soon as git could not say
//     by its times that nobody touched it.
//   - A file of a working tree that git converted by attributes or settings that are gone since, and that nobody
//     touched, counts as committed, as git itself takes it.
//   - An extra, such as a virtual environment, is shared with the checkout and can be written by tasks.
//   - Where files have no locks, each process keeps its own trees, and removes them when it closes them.
package world
