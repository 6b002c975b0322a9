// Package deltas remembers how tasks ended that ran because a merge request stands on another base.
//
// A run is of two trees: that of the base, and that of the head rebased on it. Trees name every file, so a run counts
// for these two and no other ones. What it found out beyond that is in the history of the tasks.
package deltas
