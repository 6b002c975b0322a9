// Package journal writes the results of tasks to a file while a plan runs, so that the
// results of tasks that had ended are not lost if the run is killed.
//
// A journal is a file of JSON lines. The first line names the plan and the tasks of the
// run. Each further line is the final result of one task, written when the task ended.
//
//   - A line is written by one system call. From then on it survives the end of the
//     process. Lines are not synced to the disk, since that would take longer than many
//     tasks do. So if the machine itself dies, the last lines may be lost, and their
//     tasks run again.
//   - Final results are those of tasks that passed, failed or timed out. A task that was
//     canceled or did not run is run again.
//   - A line that is cut off, or that is not a valid result, is ignored. If a task has
//     two results, the later one counts.
//   - A line {"counted":true} says that the state remembers all results before it, so
//     that a resumed run does not count them a second time.
//   - Only one run writes a journal at a time. The next run waits some seconds, because
//     after a kill the processes of the earlier run may still be ending.
//   - A journal is trusted as much as a file of results. Whoever can write to it decides
//     what a resumed run reports, so keep it where a merge request cannot put files.
package journal
