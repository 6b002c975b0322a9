// Package pending remembers what tasks announce on base: effects that are pending whatever a
// change does. Another change on the same base need not run the task on base again.
//
//   - Effects are found again by the contents of base, the command and the shard of the task,
//     and the rules by which they were found.
//   - Each integration has one document, "pending/….json", with the effects of at most 500
//     runs and 4 MiB; the latest are kept.
//   - A document that says that a deletion is pending could hide that a change causes it. So
//     documents count only where results count that keep a task from running.
package pending
