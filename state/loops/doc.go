// Package loops keeps how the work of each loop stands since its last round, for people who look at a whole fleet. A
// loop is a native integration that runs outside of a plan, on all of its work or on a shard of it.
//
//   - Each loop has one document, "loops/….json". The loop writes it at the end of each round that may write.
//   - Nothing is decided by such a document. It is bounded: units of work that wait come first, and the others are
//     counted.
//   - A document that cannot be read is told with its key. The others count.
package loops
