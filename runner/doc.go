// Package runner runs the tasks of a plan and returns their results. It does not decide
// what runs: a task that is not in the plan does not run.
//
// [Run] works in four steps:
//
//  1. It checks that bundles and settings are those of the plan.
//  2. It starts the tasks in parallel, each with a server of its own that answers
//     queries over both bundles (package launch). The queries are recorded (package
//     recording).
//  3. A task that failed runs again on base alone. If it fails there in the same way
//     (package baseline), its failure does not belong to the change and does not
//     fail the check. A failure that may pass by itself gets further attempts on head.
//  4. It writes to the state how long tasks took, how they ended and which queries they
//     sent, so that later plans and runs can use that.
//
// A red result means that this change broke something. There is one exception: a task
// also fails if its integration broke the promise "trace: static" on which the plan had
// left out work (package recording). Every rule that turns a result red or green is in
// this package, the packages below it, and package wrapper.
//
// # Interruption
//
// When the context ends, running tasks are stopped and no other task starts. Run still
// returns a result for each task, together with the error of the context, and still
// writes to the state. With a journal (package journal) a run that was killed can be
// resumed: tasks that had ended do not run again.
//
// If the runner itself is killed, package guard kills the processes that it started.
// Package guard starts the own program a second time, so it is for commands only: Run
// does not use it.
package runner
