// Package selftest checks laws of the planner on the two bundles of a user.
//
// A law is a promise that holds for every change, such as: a change of nothing plans nothing.
// The package makes variants of the two bundles, such as head with its keys in another order,
// plans them, and compares the plans. It needs no expected results, so it works on any
// repository.
//
// What a user must know:
//
//   - Each law has conditions, see [Law]. A law whose conditions do not hold is reported as
//     not applicable, with the reason, and never as kept.
//   - Plans of variants use no traces, no earlier results and no edits of rules: those belong
//     to the real bundles. Only the law "whole" looks at the real plan.
//   - A broken law is reported with a counterexample: an integration, what was planned for
//     it, and the changed files that are needed to see it. Files are taken away one group
//     after the other as long as the law stays broken, with a bounded number of attempts.
//   - Laws that need one plan for each file look at a bounded number of files.
//   - A server is asked only if the options name one. What it does not answer is reported as
//     not asked, and never as kept.
package selftest
