// Package live shows the page of a run while its tasks run, to people on this machine.
//
// [Start] listens at an address of this machine. [Session.Observe] takes the events of the run, and [Session.End] its
// end.
//
//   - The page is that of package report, made anew for each request. Events (text/event-stream) tell an open page what
//     happens next; what it has missed is sent again, and a page that missed too much loads itself again.
//   - Who knows the token in the address may read the page. It moves into a cookie, so that the address loses it. A
//     request without token or cookie, for another host, from another origin, or with another method than GET and HEAD
//     gets the same answer as one for a page that does not exist.
//   - No reader slows a task down: each reads from a ring of events at its own pace.
//   - A copy of the page is written to a file every few seconds, so that a run that is killed leaves what was known.
//   - The server ends with the run, when all open pages have the last state, or after some seconds.
package live
