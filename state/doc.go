// Package state remembers documents between runs, in a folder or in a bucket.
//
// A document is bytes under a key such as "traces/3f2a/9c1d.json". What it
// means is its owner's business; owners write a version into it and ignore what
// they cannot read ([Kind]), so that nothing remembered ever blocks a run.
//
//   - A document is written as a whole or not at all, and is safe before
//     [Store.Write] returns. Several processes may write the same key at once: the
//     last one wins, and readers see one or the other. [Store.Update] changes a
//     document without losing what another writes at the same time.
//   - Keys are lower-case letters, digits, dot, dash and underscore between
//     slashes. Names that come from elsewhere become keys through [Name].
//   - In a folder ([Dir]) nothing outside is read or written, whatever links are
//     in it; it is made by the first write, and one that is not there is empty.
//     Updates need file locks (flock), which work between the processes of one
//     machine; between machines take a bucket.
//   - A bucket ([S3]) must keep to the conditions of writes, which is tried out
//     when it is opened for writing.
//   - A call ends with its context, so ctrl-C ends one that waits for a bucket. What
//     a run learned before the interrupt is still written, in a context of
//     [WithGrace].
//   - [Collect] forgets what is old or too much.
//   - Who can write to the state can make a check be skipped: it belongs to those
//     who may merge.
package state
