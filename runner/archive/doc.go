// Package archive stores the results and the complete logs of a run in a bucket, and
// fetches logs from there. So both outlive the machine that ran the tasks.
//
//   - A log is stored beside the results that name it. If the results at
//     s3://b/run/r.json name logs/a.log, that log is s3://b/run/logs/a.log.
//   - A merge request may be able to change results. So the name of a log is used as a
//     path only if the log of its task can have this name.
//   - Logs are copied in parallel and never held in memory as a whole. An error of one
//     log does not affect the others. After repeated errors of the bucket itself, the
//     remaining logs are not tried.
package archive
