// Package state remembers documents between runs, in a folder or in a bucket.
//
// A document is a number of bytes with a key, such as "traces/3f2a/9c1d.json". Its
// format is the business of the package that owns it. Owners write a version into
// their documents and ignore documents that they cannot read ([Kind]), so that a
// remembered document never blocks a run.
//
//   - A document is written as a whole or not at all, and it is safe when
//     [Store.Write] returns. When several processes write the same key at once, the
//     last one wins, and readers see one document or the other. [Store.Update] changes
//     a document and loses no change that another process makes at the same time.
//   - A key has lower-case letters, digits, dots, hyphens and underscores between
//     slashes. [Name] turns any text, such as the name of an integration, into a part
//     of a key.
//   - A folder ([Dir]) is made by the first write; a folder that is missing is empty.
//     Nothing outside the folder is read or written, and no symbolic link in it is
//     followed. Updates need file locks (flock), which work between processes
//     of one machine. Use a bucket to share a state between machines.
//   - A bucket ([S3]) must support conditional writes (If-Match, If-None-Match). This is
//     tried out when the bucket is opened for writing.
//   - A call ends with its context, so ctrl-C ends a call that waits for a bucket.
//     [WithGrace] returns a context in which a run that was interrupted still writes
//     what it learned.
//   - [Collect] removes documents that are old, and the oldest if there are too many.
//   - Whoever can write to the state can make the planner skip a check. So only people
//     and jobs that may merge should be able to write to it.
package state
