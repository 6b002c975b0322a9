// Package history remembers how tasks ended: which tasks pass and fail with the
// same inputs (they are flaky), which passed and need not run again, and since
// when a task fails on base.
//
//   - A task is an integration, a shard and a command; the command covers the
//     image.
//   - A task is flaky when the same inputs (the plan's digest of command, shard and
//     both bundles) failed and passed, in two attempts of one run or in two runs.
//     The mark lapses 14 days after both were last seen.
//   - A task fails on base "since" the first time that this was seen, as long as the
//     same failure is seen at least once in 24 hours. The date is for people only:
//     every run finds out anew whether the task fails on base.
//   - A task passed before ([Snapshot.Passed]) when it passed with the same inputs at
//     its first attempt and never failed with them. The beginning of that attempt
//     must be known.
//   - Nothing that is remembered turns a red task green.
//   - Each integration has one document, "blame/….json", with at most 30 runs of a
//     task and 1000 tasks; the tasks that ran last stay. (The folder keeps the name
//     under which older states have it.) A document that is damaged or too large
//     counts as none, and a copy of it is kept when the next run takes its place. A
//     document of another version is left as it is. Processes that write at the same
//     time lose nothing of each other; a run may be counted twice when the answer of
//     a bucket is lost.
package history
