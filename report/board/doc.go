// Package board tells people how a whole repository stands: what waits for somebody, the checks of merge requests,
// where commits are on their way through stages, the shards of loops, resources by state, audits, and the last weeks.
// [New] computes it from documents of a state; [HTML] writes one page of it, and [Board.Views] has each part as JSON.
//
//   - A page loads nothing and needs no script. A script only tells how old it is.
//   - Pages may be public. Reasons that name targets or quote services are left out unless the input asks for them.
//   - What could not be read is a part of the board: it is never told as nothing.
package board
