// Package report writes a plan and its results for readers: text for a terminal,
// Markdown for a merge request, a page for a browser, JSON for programs.
//
// [New] computes a [Report]; [Text], [Markdown], [HTML] and [JSON] write it. [PlanText]
// and [PlanMarkdown] show a plan that was not run, and [ExplainText] shows why
// one integration runs or is skipped. [JUnit], [CodeQuality] and [Metrics] write
// files that GitLab shows beside a merge request.
//
// # Rules
//
//   - Renderers only write: New computes what they show.
//   - The same input gives the same bytes. Nothing here reads a clock.
//   - Every integration is shown, also the skipped ones, with its rung and reason.
//   - A task without a result counts as failed. A report fails as well if its
//     results belong to another plan or name a task that the plan does not have.
//   - Names, paths, keys, reasons, tails and warnings come from a merge request
//     and are not trusted. (The tail of a task is the last lines of its output.)
//     In text they lose control characters and terminal escapes, and a value stays
//     on one line; the lines of a tail are marked with "|". In Markdown they cannot
//     end a table cell or a code fence, mention people, refer to issues, become
//     links, images or HTML, or start a quick action. In HTML they stay text:
//     html/template escapes them, and the content security policy of the page
//     allows only our own script and style, by their hashes, and loads nothing.
//
// # Awkward cases
//
// In Markdown an invisible U+2060 (word joiner) follows signs such as @ and #, and
// precedes a slash that starts a line. A backslash or an entity would not help:
// GitLab looks for mentions in the rendered text, which no longer has them. Columns
// are aligned by counting runes, so wide characters shift a line. At most
// [MaxTails] failures show their tail in Markdown, because a note has a size limit.
//
// In JUnit and Code Quality only a task that passed looks green, even if much has
// to be left out. The evidence of a decision tells which parts of the change made a
// task run ([Origin]); a [Locator], which has the files, finds their lines. A path
// that leads out of the repository is never shown as a place.
//
// The HTML page has bounds too, and says where something is left out. A plan names
// changed fields but not their values, so a caller that has the bundles passes the
// values as [Contents]. If parts of a plan ran on several machines, the timeline
// draws them as if all had begun together: the times of a result count from the
// beginning of its own run.
package report
