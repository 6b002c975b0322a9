// Package place makes the places in which tasks start.
//
// A task starts in the files of its side: a task on base in base's, a task on head in head's.
// [Places.OnBase] and [Places.OnHead] make a place for one attempt of a task. It is a view of
// the files of the side, which the task alone can write to, and which is removed afterwards.
// Programs, helper modules and data that a task opens from disk are then those of its side.
//
// Nothing is made before a task starts there. The place on head is the checkout itself where
// that has exactly head's files and is thrown away anyway (in a job), and for tasks whose settings
// say that they use no file of the repository.
//
// Where base's files are not known, tasks on base start where those on head do. Their failure
// there says nothing about base, see [Places.WhyNotBase].
package place
