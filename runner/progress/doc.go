// Package progress shows people, while the tasks of a plan run, which tasks run and how
// many have ended.
//
//   - On a terminal the last lines are redrawn several times a second: a line for each
//     running task, if the terminal has room for it, and a bar for the whole run. The
//     tasks that did not pass stay above these lines.
//   - Elsewhere a line is written for each task that ends, and every 30 seconds a line
//     that names the running tasks. In a GitLab job these lines are in collapsible
//     sections, and at the end each failed task gets a section with its last output.
//
// Progress belongs on stderr: stdout carries results only. Errors of writing are
// ignored, since a run must not stop because of its progress. Text from outside, such as
// names of tasks, is sanitized.
package progress
