// Package peer says what qontract-reconcile does with the merge requests of a project today: who stands in its queue,
// what it merges, rebases, labels and closes, as of version f8dc7d438 (2026-08-21). It acts on nothing. The queue of
// prcheck is compared with it.
//
// A [Snapshot] is what one loop of it finds. With [Rules].IsCareful the loop is the same, except that it holds what
// it would merge without evidence for the very head: what no pipeline ran on, what moved while it was looked at, and
// what is not approved any more. These are our deviations.
package peer
