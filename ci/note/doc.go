// Package note writes the one note that a tool keeps on a merge request. It says
// what the author must do, what is new since the last run, and, in folded parts,
// what ran, what was skipped and why.
//
// [Note.Body] makes the new body from a plan, its results and the previous body.
// The caller finds, creates and edits the note. It recognizes the note by
// [Note.Marker], and compares [Note.Generation] so as not to replace a newer note.
//
// # Rules
//
//   - The same input gives the same bytes. A body that is made again from itself,
//     with the same generation, does not change.
//   - A body is never longer than its limit, in characters, and always valid
//     UTF-8 and valid Markdown. If there is too little room, whole rows and lines
//     are left out, the least important first: skipped integrations, tasks that
//     ran, the comparison with the last run, effects that are no deletions, last
//     lines of output, failures with the same cause, deletions, then other
//     failures. The note says how much was left out.
//   - Nothing is decided here: the verdict comes from package report, and package
//     plan says whether a result blocks.
//   - Names, paths, reasons, tails, warnings and the previous body are not trusted.
//     Texts are escaped by package internal/markdown; links must be plain http or
//     https addresses without credentials.
//
// A note without a plan ([Note.Unplanned]) says that nothing was checked. The next
// run is then compared with the run before that one.
//
// # The marker
//
// The first line is a comment that readers do not see. It holds the id of the tool
// and a JSON document in base64: the generation, and for this run and the one
// before it the plan, the commit, the verdict, the failed tasks and the checked
// integrations. Tasks and integrations are stored as hashes, so the marker contains
// no foreign text, and a forged marker cannot bring in any. If a marker is cut,
// edited or too long, only the comparison with the run before is lost.
//
// # Awkward cases
//
// Tasks that failed with the same message are shown once; the others are in a fold.
// A task that failed now and was canceled or not run the last time counts as new.
// A failed task that has vanished from the plan is only counted, since the marker
// has no names.
package note
