// Package tally counts, by day and integration, what plans decided and how their tasks
// ended, so that people can see what their integrations cost and why.
//
//   - There is one document a day (UTC), "tally/DAY.json". Old days are removed together
//     with other old documents of the state.
//   - A document is bounded: 2000 integrations with names of 300 bytes. What does not fit
//     is counted under the name "".
//   - Tallies decide nothing, so they count without a signature. A document that is damaged
//     is set aside and counting begins anew.
//   - Several processes may add to a day at once, and nothing is lost. A run may be counted
//     twice when the answer of a bucket is lost.
//
// # Time that changed nothing
//
// A run is counted as needless if, in hindsight, another way to select would have left it
// out: its tasks passed and, as far as their queries tell, read nothing that the change
// touched. [Cause] lists the ways. Nothing is concluded for a change of resources, schemas
// or GraphQL types, for tasks that asked nothing, and for tasks that failed.
package tally
