// Package report turns a plan and its results into something to read: text for a
// terminal, Markdown for a merge request, a page for a browser, JSON for programs.
//
// [New] computes a [Report]; [Text], [Markdown], [HTML] and [JSON] write it. [PlanText]
// and [PlanMarkdown] show a plan that was not run, and [ExplainText] shows why
// one integration runs or is skipped. [JUnit], [CodeQuality] and [Metrics] are
// files that GitLab shows beside a merge request.
//
// # Rules
//
//   - Renderers only write; what they show was computed by New.
//   - Same input, same bytes. Nothing here knows a clock.
//   - Every integration is shown, the skipped ones too, with rung and reason.
//   - A task without a result has failed, and so has a report whose results
//     belong to another plan or name tasks that the plan does not have.
//   - Names, paths, keys, reasons, tails and warnings come from a merge request
//     and are not trusted. In text they lose control characters and terminal
//     escapes, and one value stays on one line; the lines of a tail are marked
//     with "|". In Markdown they cannot end a table cell or a code fence, mention
//     people, refer to issues, become links, images or HTML, or start a quick
//     action. In HTML they are text and nothing else: html/template escapes them
//     for their place, and the content security policy of the page runs no script
//     and applies no style but our own, by hash, and loads nothing.
//
// # Awkward cases
//
// In Markdown a U+2060 (word joiner, invisible) stands behind signs such as @ and
// # and before a slash that starts a line: GitLab looks for mentions in the
// rendered text, where a backslash or an entity is gone. Columns are aligned by
// counting runes, so wide characters shift a line. At most [MaxTails] failures
// show their tail in Markdown, because a note has a size limit.
//
// In JUnit and Code Quality nothing but a pass is green, however much has to be
// left out. Where in the repository the change is that made a task run follows
// from the evidence ([Origin]); whoever has the files tells the line ([Locator]).
// A path that leads out of the repository is no place, whoever says it.
//
// The page has bounds too, and says where something is left out. A plan names
// changed fields without their values, so these come in as [Contents] from
// whoever has the bundles. Parts of a plan that ran on several machines are drawn
// as if they had begun together, since a result counts time from the beginning of
// its own run.
package report
