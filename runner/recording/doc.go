// Package recording records the queries that the tasks of a run send, and saves them as
// traces (package trace) so that later plans can use them.
//
// # Which traces are saved
//
// The trace of a task is saved if the task passed, unless the settings say "trace: none"
// or the trace contains a secret.
//
// # When a task fails because of its queries
//
// An integration with "trace: static" promises that its tasks always send the same
// queries. [Recording.CheckAndSave] checks the promise after each run. The plan may
// have left out work because of the promise: shards, or tasks that passed before. If
// the promise is broken, nobody knows whether that work was needed, so the task that
// ran fails, although its program passed. This is the only rule of the package that
// turns a result red, see [failForBrokenPromise].
package recording
