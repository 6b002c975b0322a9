// Package world knows the files of one side of a change, and makes folders with exactly these files in which tasks
// start.
//
// A [Tree] is the model: the files of a commit ([OfCommit]), of a working tree with all its edits and new files
// ([OfWorkTree]), or of a folder without git ([OfFolder]). It holds paths, modes and git's ids of the contents; no file
// is written for it.
package world
