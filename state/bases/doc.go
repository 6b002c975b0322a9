// Package bases remembers what tasks see of bases, so that plans of all merge requests on one
// base work it out once, also in jobs that begin with an empty folder.
//
//   - Each base has one document, "bases/….json", named after the sha256 of its bytes. What it
//     holds is found by keys that say what it follows from: the base, the queries, the shards.
//   - It decides which earlier results are used again. So it counts only where these count:
//     it is signed like them.
//   - A document that is missing, damaged or too large costs time and nothing else.
package bases
