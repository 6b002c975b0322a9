// Package blame tells whether a failure is this change's: it compares how a task
// failed on head with how it failed on base, and remembers which tasks fail and
// pass with the same inputs. So it knows, too, what passed and need not run again.
//
// # The same failure
//
// [Compare] says that a task fails on base the same way only when nothing speaks
// against it. Both ran to their end and said why; exit code, class and reason are
// equal; both logs are there as a whole; and each line of head's log that counts
// stands in base's as well, as often or oftener. All lines count but those that
// call themselves INFO or DEBUG: a dry run says there what the change would do,
// which differs. Without a line that counts nothing is known, and the failure is
// the change's.
//
// Before lines are compared, what differs from run to run is taken out of them:
// times of day, measured durations, addresses in memory, ports of the own machine,
// ids of processes, threads and requests, names of temporary files, and the
// bundles' own sha256. Other numbers and ids stay. They may be all that tells two
// failures apart: "2 clusters failed" is not "1 cluster failed", and a commit that
// is not found is not another one.
//
// # Memory
//
//   - A task is an integration, a shard and a command; the command covers the
//     image.
//   - It is flaky when the same inputs (the plan's digest of command, shard and
//     both bundles) failed and passed, in two attempts of one run or in two runs.
//     The mark lapses 14 days after that was last seen.
//   - Since when a task fails on base is known as long as it is seen to fail the
//     same way once in 24 hours. It is for people: whether it fails on base is
//     always found out anew.
//   - A task passed before ([Snapshot.Passed]) when the same inputs did at the first
//     attempt, and never failed. When that attempt began must be known.
//   - Nothing remembered turns a red task green.
//   - An integration has one document, "blame/….json", with at most 30 runs of a
//     task and 1000 tasks; those that ran last stay. One that is damaged or too
//     large is none, and a copy is kept when the next runs take its place; one of
//     another version is left as it is. Processes that remember runs at once lose
//     nothing of each other; a run may be counted twice when an answer is lost.
package blame
