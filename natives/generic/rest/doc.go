// Package rest reads and writes resources over HTTP, in the way that their specification and
// the habits of their family ask for.
//
// [Client.Read] reads one resource. [Client.Write] brings one in line with what a [Planner]
// wants, and [Client.Delete] deletes one; [Client.Resume] goes on with an operation that an
// earlier process began.
//
//   - A write begins with a read, and is conditional on it where the service can do that. When
//     somebody was faster the planner is asked again with what is there now, three times.
//   - Nothing is written when the planner wants nothing.
//   - Before a creation, and before the first wait for an operation, the [Memory] is told: a
//     killed process never leaves a thing of unknown owner, and never starts twice.
//   - After a write the resource is read back. What is not as it was sent is VERIFY_MISMATCH,
//     with the override that would explain it.
//   - Below one resource one write goes on at a time.
//   - Requests of one root and kind share a token bucket, also over processes.
//   - A request is repeated only if it can do no harm twice, or if it was certainly not
//     received.
//   - Requests go to the host of the endpoint only. An answer that is too large, no JSON, cut
//     or a redirect is one clear error. No error holds a body.
package rest
