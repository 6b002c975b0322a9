// Package queue decides which merge requests of one target branch can be merged, in which order, and what is done after
// each answer of the forge. It asks nobody and writes nothing.
//
//	requests with labels ──► Line: order, who waits and why
//	                           │
//	proofs on a base ─────────►Walk: accepted ones on top of each other, what has to run
//	                           │
//	answers of the forge ────► Reaction: what is done, what is told, whether the loop ends
//
// # Rules
//
//   - Everything that is decided is about a [Pair], a head on a base. A push, or another base, ends it.
//   - No label, path or graph says that two requests are independent. A request is proven on a base that has all that
//     was accepted before it; that two of them commute shows as an empty delta.
//   - A [Proof] that nobody made is the zero value, and its state is [Unknown]: never that it holds. Nothing is merged
//     on it.
//   - A failure never holds. A pass holds only if [Result.Verdict] says so, and the image is known by its digest.
//   - Labels say who wants what, and how urgent it is. The order is by class, aged, and by the time of the approval: a
//     label that is put on again changes nothing, and one that holds a request back takes no place away. A request
//     whose delta began is not overtaken by a more urgent one, unless that takes nothing from it.
//   - What the forge answers in a word that nobody knows here holds the request.
package queue
