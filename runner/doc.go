// Package runner runs the tasks of a plan and returns their results. It acts and
// never decides what runs: a task that is not in the plan does not run.
//
// [Run] does the whole of it:
//
//  1. It checks that bundles and settings are those of the plan.
//  2. It starts the tasks in parallel, each with a server of its own that answers
//     queries over both bundles (package launch). What a task asks is recorded
//     (package recording).
//  3. A task that failed runs again on base alone. If it fails there in the same way
//     (package baseline), its failure does not belong to the change and does not
//     fail the check. A failure that may pass by itself gets further attempts on head.
//  4. The state remembers how long tasks took, how they ended and what they asked, so
//     that later plans and runs can use it.
//
// A red result means that this change broke something. Every rule that turns a result
// red or green is in this package and the packages below it.
//
// # Interruption
//
// When the context ends, running tasks are stopped and no other task starts. Run
// still returns a result for each task, together with the error of the context, and
// what was learned until then is still remembered. With a journal (package journal)
// a run that was killed can be resumed: tasks that had ended do not run again.
//
// Killing what a killed runner started is the work of package guard, which starts the
// own program a second time. It is for commands only: Run does not use it.
package runner
