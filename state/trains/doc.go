// Package trains remembers which tasks the own pipeline of a merge request passed, so that
// the plan of its merge train can tell which of these results hold there.
//
//   - Each merge request has one document, "trains/….json", about its last pipeline outside
//     of a merge train: its tasks that passed, and those that were left out because they had
//     passed before, each with the digest of its inputs. The parts of a pipeline share the
//     document: they have the same plan.
//   - A document has at most 10,000 tasks.
//   - A pipeline in which no runner ran changes nothing.
//   - Nothing is left out because of such a document. It only counts where results count that
//     keep a task from running, so that nobody else can make up a sentence of a report.
package trains
