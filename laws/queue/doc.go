// Command queue measures ways of merging on one simulated stream of approved merge requests, and holds package queue to
// plain truth over random lines.
//
//	go run ./laws/queue                   the table of the stream: make laws prints it
//	go run ./laws/queue --worlds 1000000  the law over random lines
//	go run ./laws/queue --mutants         breaks package queue as listed; the law, or the tests that are named, must notice
//
// # The stream
//
// All parameters stand in stream.json. Requests arrive at random and are approved then; each has a green pipeline of
// its own, of some age. It touches tenants, and sometimes what no label shows. Whether the merge of one request
// changes what a task of another one sees, and whether both break together, is drawn once for each pair, so all ways
// of merging meet the same world. What breaks is seen by one task, whose inputs differ. What was merged before the
// stream began changed nothing.
//
//   - serial, labels: the loops of package queue/peer over such a project, every 1.75 minutes
//   - train: a train of GitLab, 20 wide; a failure restarts all behind it
//   - analyzer: like SubmitQueue; whole pipelines on all ahead that can meet it, in parallel to those that cannot
//   - ours: package queue, with results that count for an hour and for two days
//
// The model knows no conflicts of text, no people who hold, and no failures of the forge. Only its own numbers may be
// compared with each other.
package main
