// Package promotion decides which commits may be promoted, and reads and writes the records on
// which this depends.
//
// A publisher is a target that publishes to channels. After each run of a publisher there is a
// record of its commit in each of its channels, see [Record]. A subscriber is a target that
// subscribes to channels: it may run the commits that all publishers of its channels ran.
//
//   - [Gate] says whether a target may run one commit. A deployment, the loop and the report
//     all ask it.
//   - [Decide] says which commit a subscriber is to be promoted to: the newest one for which
//     the gate is open, within the window of its schedule.
//   - A commit soaks at a publisher only while it is the one that runs there, and a publisher
//     counts once, in however many channels it publishes.
//   - What cannot be read is unknown: it opens no gate, and the error names it.
//
// The functions are pure: times and records are arguments. [Records] alone asks a bucket.
package promotion
