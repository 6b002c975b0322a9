// Package journal keeps the results of tasks while a plan runs, so that a run
// that was killed loses nothing that had finished.
//
// A journal is a file of JSON lines. The first names the plan and the tasks that
// are run of it; each of the others is one final result, written when its task
// ended.
//
//   - A line is written by one write, and is safe from then on when the process is
//     killed. It is not forced to the disk, which would cost more than many tasks:
//     when the machine dies, its last lines may be lost, and their tasks run again.
//   - Final are the results of tasks that ran to an end: passed, failed, out of
//     time. What was canceled or did not run is run again.
//   - A line that is torn, or no result, is none. Of two results of a task the
//     later one counts.
//   - A line says that all results before it are remembered elsewhere, so that a run
//     that goes on does not count them again.
//   - One run writes a journal at a time. The next one waits some seconds, since
//     after a kill the processes of the last one may still be ending.
//   - A journal is believed as results are. Who can write to it decides what a
//     resumed run says, so it belongs where a change cannot put files.
package journal
