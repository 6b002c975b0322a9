// Package note writes the one note that a tool keeps on a merge request: what
// the author must do, what is new since the note before, and, folded, what ran
// and what was skipped and why.
//
// [Note.Body] turns a plan, its results and the body of the note before into the
// new body. Who finds, creates and edits the note uses [Note.Marker] to tell it
// from others, and [Note.Generation] never to replace a newer one.
//
// # Rules
//
//   - Same input, same bytes. A body made from itself, with the same generation,
//     is the same body.
//   - A body is never longer than its limit, in characters, and always valid
//     UTF-8 and valid Markdown. What has no room is left out as whole rows and
//     lines, the least important first: skipped integrations, tasks that ran, what
//     was checked before, last lines, then failures alike and failures. Where
//     something is left out stands how much.
//   - The verdict is that of package report, and whether a result blocks is
//     asked of package plan. Nothing is decided here.
//   - Names, paths, reasons, tails, warnings and the body before come from
//     others and are not trusted: the words pass package internal/markdown, the
//     links must be plain http ones without credentials.
//
// A note without a plan, [Note.Unplanned], says that nothing was checked, for which
// the next run is compared with the one before it.
//
// # The marker
//
// The first line is a comment, which nobody sees: the id of the tool and, in
// base64, a JSON document with generation, plan, commit, verdict and the tasks
// that failed, once for this run and once for the one before. Tasks and
// integrations stand there as hashes, so that nothing foreign is in it and a
// forged one can name nothing. A marker that is cut, edited or too long costs the
// comparison with the run before, never more.
//
// # Awkward cases
//
// Tasks that failed with the same words are shown once, with the others in a
// fold. A task that was not run or canceled the time before and fails now counts
// as new, and one that has vanished from the plan is only counted: the marker has
// no names.
package note
