// Package baseline decides whether a failure belongs to the change: it compares how
// a task failed on head with how the same task failed on base.
//
// # The same failure
//
// [Compare] reports the same failure only when nothing speaks against it:
//
//   - Both runs ended by themselves, and their exit code, class and reason are equal.
//   - Both logs are complete.
//   - Each line that counts in head's log is in base's log at least as often.
//
// All lines count except those of level INFO or DEBUG: there a dry run says what the
// change would do, which differs from base by its nature. A log without a line that
// counts proves nothing, so its failure belongs to the change.
//
// Before lines are compared, parts that differ from run to run are replaced: times
// of day, measured durations, memory addresses, ports of the own machine, ids of
// processes, threads and requests, names of temporary files, and the sha256 of the
// bundles. Other numbers and ids stay, because they may be all that tells two
// failures apart: "2 clusters failed" is not "1 cluster failed".
package baseline
