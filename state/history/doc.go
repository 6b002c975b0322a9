// Package history remembers how tasks ended: which tasks are flaky (they pass and fail
// with the same inputs), which tasks passed and need not run again, and since when a
// task fails on base.
//
//   - A task is identified by its integration, its shard and the digest of its command,
//     which covers the image.
//   - A task is flaky if it failed and passed with the same inputs (the plan's digest of
//     the command, the shard and the bundles), in two attempts of one run or in two
//     runs. It stays flaky for 14 days after that was last seen.
//   - A task fails on base "since" the first run in which that was seen, as long as the
//     same failure is seen at least once in 24 hours. The date is only shown to people:
//     every run finds out anew whether the task fails on base.
//   - A task passed before ([Snapshot.Passed]) if it passed with the same inputs and
//     never failed with them, and if it is known when the attempt that passed began.
//   - A run that passed also remembers the effects that it announced, with the digest of the
//     rules by which they were found ([Snapshot.Effects]), if they are at most 32 KiB. An
//     integration keeps at most 4 MiB of effects, the latest ones.
//   - The history never turns a failed task into one that passed.
//   - Each integration has one document, "blame/….json", with at most 1000 tasks (the
//     tasks that ran last stay) and 30 runs of each. The folder has this name because
//     older versions of prcheck used it. A document that is damaged or too large counts
//     as none, and a copy is kept when the next run replaces it. A document of another
//     version stays as it is. When processes write at the same time, no run is lost. A
//     run may be counted twice when the answer of a bucket is lost.
package history
