// Package progress tells people on stderr how far the tasks of a plan are, while
// they run.
//
//   - On a terminal, the last lines are redrawn: one for each running task, as
//     many as there is room for, and a bar for the whole. Tasks that did not pass
//     stand above, for good.
//   - Everywhere else each task that ended is a line of its own, and twice a
//     minute a line names what still runs. In a job of GitLab the lines are in
//     collapsible sections, and the last lines of what each failed task said
//     follow, one section for each.
//
// Nothing goes to stdout. Errors of writing are ignored: progress is not worth
// stopping for. Foreign text, such as names of tasks, is made harmless.
package progress
