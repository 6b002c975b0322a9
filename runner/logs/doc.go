// Package logs keeps the complete logs of tasks in a bucket, and fetches them
// from there, so that they outlive the machine that ran the tasks.
//
//   - A log lies beside the results that name it: of results in s3://b/run/r.json
//     the log logs/a.log is s3://b/run/logs/a.log.
//   - Only names that the log of this task can have are used. Results may come
//     from where a change can write, so a name is no path until it is held to that.
//   - Logs are streamed, several at once, and none is held in memory. Trouble with
//     one leaves the others; a store that fails again and again is left alone.
package logs
