// Package checks keeps how the checks of merge requests stand, for people who look at all of them. Each merge request
// has one document, "checks/….json", about its last pipeline: how many tasks ended how, and how many things they would
// create, change and delete.
//
//   - The parts of a pipeline share the document. Each writes what it ran, and a check is over when all have.
//   - A later pipeline takes the place of an earlier one.
//   - Nothing is decided by such a document, and it has no names of tasks and no output.
//   - A document that cannot be read is told with its key. The others count.
package checks
