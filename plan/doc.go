// Package plan defines the two documents that prcheck's commands exchange: the
// plan (which integrations run or are skipped, and why) and the results (how the
// tasks of the plan ended).
//
// The planner builds a [Plan], seals it and writes it; the runner reads it, runs
// its tasks and writes [Results]; reports are made from both. This package is
// pure: it opens no files, knows no clock and starts nothing.
//
// # Rules
//
//   - A plan is sealed before it is written ([Plan.Seal]) and checked when it is
//     read ([Read]). Both apply the same rules, so whatever was sealed can be
//     read: every integration once and in name order, each with a known action,
//     a known rung and a reason; a skipped integration has no tasks and any
//     other has at least one; every task has one integration that lists it, a
//     unique id, a positive timeout and a command (unless it is native or
//     blocked).
//   - The digest is "sha256:" and the hex SHA-256 of the canonical form: the
//     document without its top-level key "digest", object keys sorted at every
//     level, no white space, no HTML escaping, UTF-8, no newline at the end.
//     Numbers keep the literal they were written with. Anyone can compute it:
//     jq -cjS 'del(.digest)' plan.json | sha256sum
//   - [Read] computes the digest over the bytes it was given, so fields that a
//     later prcheck added are covered although this one does not know them.
//   - Lists that are always present are written as [], never as null.
//   - A task without a result has failed. [MergeResults] adds missing results as
//     not run, so a lost part of a distributed run cannot look green.
//   - A [Reason] is a code with the values that its sentence names, and
//     [Reason.String] is the one place that makes sentences. Rungs return a
//     [Conclusion]. [Conclusion.Then] puts the conclusions of several rungs
//     together, and [Conclusion.Decision] writes the decision. Programs compare
//     codes; sentences may be worded anew.
//
// # Awkward cases
//
// A digest is a check against mix-ups and damage, not a signature: whoever can
// write the file can seal it again. A plan that was read and holds unknown
// fields cannot be written again without losing them, and [Write] refuses to,
// because the digest would no longer be true. A key that appears twice in one
// object is an error, because readers disagree about which one counts. Strings
// that are not valid UTF-8 are written with U+FFFD in place of the bad bytes.
package plan
