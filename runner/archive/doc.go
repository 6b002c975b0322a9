// Package archive keeps the results and the complete logs of a run in a bucket, and
// fetches logs from there, so that both outlive the machine that ran the tasks.
//
//   - A log is beside the results that name it: for results at s3://b/run/r.json the
//     log logs/a.log is s3://b/run/logs/a.log.
//   - Results may come from a place where a merge request can write. So a log's name
//     is used as a path only if it is a name that the log of its task can have.
//   - Logs are streamed, several at once; none is held in memory. Trouble with one log
//     does not affect the others. After repeated errors the store is left alone.
package archive
