package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html/template"
	"strings"

	"github.com/app-sre/prcheck/internal/names"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

// A pageView holds everything that the template shows. Its texts are cleaned and
// bounded; the template escapes them.
type pageView struct {
	Policy, Connect      string
	Style, Early, Script template.HTML
	Icon                 template.URL

	Running  *Running // nil if the run has ended
	Passed   bool
	Title    string // of the window
	Verdict  string
	Headline string
	Share    string
	Facts    []fact // base, head and plan

	UncheckedTitle, UncheckedNote string

	Failures      []failureCard
	MoreFailures  int
	Unchecked     []failureCard // tasks whose target was unavailable
	MoreUnchecked int
	Broken        []failureCard // tasks that are broken on base too
	MoreBroken    int
	Remarked      *remarkedView
	Effects       *effectsView // nil without a task
	Warnings      []string
	Audit         *auditView
	Train         *trainView // nil outside of a merge train
	Approvals     *approvalsView
	Funnel        []funnelLevel
	Timeline      *timeline
	Rows          []integrationRow
	Choices       []choice
	Files         []changedFile
	Changed       string    // all changes in one sentence
	Schemas       []string  // JSON schemas that changed
	Types         []string  // GraphQL types that changed
	ValuesNote    string    // why no values are shown
	Data          []rowData // for the script, one per row
}

// A fact is a label with values: a piece of evidence, or a side of the comparison.
type fact struct {
	Label  string
	Values []value
	Inline bool // values are short and stand side by side
}

// A value is one text of a fact. Href is a link within the page, or "". A link to the effects may have Find: what
// their filter gets.
type value struct {
	Text, Href string
	Find       string
	Code       bool
}

// A funnelLevel is one rung of the funnel. The fields in X and W are the positions
// and widths of the parts of its bar, in percent.
type funnelLevel struct {
	RungTally
	Question                                          string
	LeftW, RunX, RunW, ShardsX, ShardsW, SkipX, SkipW string
	Arrived                                           int // integrations that no rung before decided
}

// A choice is one drop-down list of the filter form.
type choice struct {
	Name, Label string
	Options     []option
}

// An option is one entry of a choice.
type option struct{ Value, Label string }

// A rowData holds the values by which the script sorts and filters a row. It belongs to the
// row at the same place.
type rowData struct {
	Decision string  `json:"d"`
	Rung     int     `json:"r"`
	Status   string  `json:"s,omitempty"`
	Seconds  float64 `json:"t,omitempty"`
}

// icons are the icons for the browser tab, by whether the check passed.
var icons = map[bool]template.URL{
	true: "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' " +
		"height='16' rx='4' fill='%231a7f37'/%3E%3Cpath d='M4 8.5 7 11.5 12 5' fill='none' stroke='white' " +
		"stroke-width='2'/%3E%3C/svg%3E",
	false: "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' " +
		"height='16' rx='4' fill='%23b3261e'/%3E%3Cpath d='M4.5 4.5l7 7m0-7l-7 7' fill='none' stroke='white' " +
		"stroke-width='2'/%3E%3C/svg%3E",
}

// newPageView computes everything that the page shows.
func newPageView(page Page) *pageView {
	rep, p := page.Report, page.Plan
	v := &pageView{
		Icon: icons[rep.Verdict == plan.VerdictPassed], Passed: rep.Verdict == plan.VerdictPassed,
		Verdict: strings.ToUpper(verdictLabel(rep.Verdict)[:1]) + verdictLabel(rep.Verdict)[1:], Headline: headline(rep),
		Facts: headFacts(p), Funnel: funnelLevels(rep), Timeline: newTimeline(rep),
		Train: newTrainView(rep.Train), Choices: filterChoices(rep), Changed: changesSummary(p.Changes),
		Warnings: cleanLines(rep.Warnings), Schemas: cleanLines(p.Changes.Schemas), Types: cleanLines(p.Changes.GraphQL),
	}
	v.Audit = newAuditView(rep.Audit)
	v.Approvals = newApprovalsView(page.Approvals)
	v.Title = "prcheck " + verdictLabel(rep.Verdict) + ": " + v.Headline
	v.Share = summarySentence(rep, v.Timeline)
	links := newFileIndex(page)
	v.Effects = links.newEffectsView(rep)
	v.Rows, v.Data = newRows(page, links)
	v.Remarked = newRemarkedView(rep.Remarked())
	v.Files = links.files
	v.Failures, v.MoreFailures = links.newFailureCards("failure", rep, rep.failedTasks())
	v.Unchecked, v.MoreUnchecked = links.newFailureCards("unchecked", rep, rep.uncheckedTasks())
	v.UncheckedTitle, v.UncheckedNote = uncheckedTitle, uncheckedNote
	v.Broken, v.MoreBroken = links.newFailureCards("broken", rep, rep.brokenTasks())
	if page.Contents == nil && len(v.Files) > 0 {
		v.ValuesNote = "The bundles were not at hand when this report was written, so it names the fields that changed but " +
			"not their values."
	}
	if page.Running != nil {
		page.Running.show(v)
	}
	return v
}

// headFacts returns the facts at the head of the page: base, head and plan.
func headFacts(p *plan.Plan) []fact {
	sideFact := func(label string, s plan.Side) fact {
		values := []value{{Text: cleanLine(s.Ref), Code: true}}
		if s.Commit != "" {
			values = append(values, value{Text: "commit " + shorten(s.Commit, 12)})
		}
		return fact{Label: label, Values: values}
	}
	return []fact{sideFact("base", p.Base), sideFact("head", p.Head),
		{Label: "plan", Values: []value{{Text: shorten(p.Digest, 19), Code: true}}}}
}

// shorten returns the first runes of a hash.
func shorten(text string, runes int) string {
	all := []rune(cleanLine(text))
	if len(all) > runes {
		return string(all[:runes]) + "…"
	}
	return string(all)
}

// summarySentence returns the numbers of the run in one sentence.
func summarySentence(rep *Report, t *timeline) string {
	parts := []string{selectionSummary(rep.Counts)}
	if t != nil {
		parts = append(parts, "run time "+t.Total)
	}
	if rep.Counts.Seconds > 0 {
		parts = append(parts, "task time "+formatSeconds(rep.Counts.Seconds))
	}
	return strings.Join(parts, "; ")
}

// funnelLevels returns the rungs with the bars that show how many integrations
// each of them decided.
func funnelLevels(rep *Report) []funnelLevel {
	var out []funnelLevel
	all := float64(max(rep.Counts.Integrations, 1))
	for _, r := range rep.shownRungs() {
		l := funnelLevel{RungTally: r, Question: r.Rung.Question(), Arrived: r.Run + r.Shards + r.Skip + r.Left}
		at := 0.0
		part := func(n int) (x, w string) {
			x, w = formatPercent(at), formatPercent(100*float64(n)/all)
			at += 100 * float64(n) / all
			return x, w
		}
		_, l.LeftW = part(r.Left)
		l.RunX, l.RunW = part(r.Run)
		l.ShardsX, l.ShardsW = part(r.Shards)
		l.SkipX, l.SkipW = part(r.Skip)
		out = append(out, l)
	}
	return out
}

// formatPercent returns a percentage as CSS and SVG take it.
func formatPercent(n float64) string { return fmt.Sprintf("%.2f%%", n) }

// filterChoices returns the drop-down lists of the filter form.
func filterChoices(rep *Report) []choice {
	decision := choice{"decision", "Decision", []option{{"run", "run"}, {"shards", "shards"}, {"skip", "skip"}}}
	rung := choice{"rung", "Decided at", nil}
	for i, r := range plan.Rungs() {
		rung.Options = append(rung.Options, option{fmt.Sprint(i), string(r)})
	}
	status := choice{"status", "Result", []option{{"bad", "not passed"}}}
	for _, s := range []plan.Status{plan.Passed, plan.Failed, plan.TimedOut, plan.Canceled, plan.NotRun, unavailable,
		brokenOnBase} {
		if s == brokenOnBase && rep.Counts.Baseline == 0 || s == unavailable && rep.Counts.Unavailable == 0 {
			continue
		}
		status.Options = append(status.Options, option{string(s), statusLabel(s)})
	}
	if rep.Counts.Tasks == 0 {
		return []choice{decision, rung}
	}
	return []choice{decision, rung, status}
}

// statusLabel returns a status as words: "timed out" for timed_out.
func statusLabel(s plan.Status) string { return cleanLine(strings.ReplaceAll(string(s), "_", " ")) }

// maxAnchor is the longest name, in bytes, that is its own anchor.
const maxAnchor = 201

// anchor returns the id of the HTML element of an integration. It contains the
// name, or a digest of the name if the name is too long or not plain. The forms
// differ in the character after "integration", so they never collide.
func anchor(name string) string {
	if len(name) <= maxAnchor && names.IsPlain(name) {
		return "integration-" + name
	}
	sum := sha256.Sum256([]byte(name))
	return "integration~" + hex.EncodeToString(sum[:8])
}

// cssClass returns the CSS class of a decision, a status or a kind of change:
// "other" for a word that the style sheet does not know.
func cssClass[T ~string](word T) string {
	switch string(word) {
	case "run", "shards", "skip", "passed", "failed", "timed_out", "canceled", "not_run", string(brokenOnBase),
		string(unavailable), "added", "removed", "modified", "metadata":
		return string(word)
	}
	return "other"
}

// visibleText returns a name as one clean line, which is never empty.
func visibleText(text string) string { return cmp.Or(cleanLine(text), "(no visible name)") }

// A findingList holds the findings of one task as the page shows them.
type findingList struct {
	Rows []findingRow
	Rest []string // what the rows do not show
}

// A findingRow is one finding.
type findingRow struct{ Severity, Class, Code, Where, Message string }

// newFindingList returns the findings of a task.
func newFindingList(t TaskResult) findingList {
	shown, rest := t.ShownFindings(maxShownFindings)
	out := findingList{Rest: rest}
	for _, f := range shown {
		out.Rows = append(out.Rows, findingRow{
			Severity: cleanLine(string(f.Severity)), Class: severityClass(f.Severity), Code: cleanLine(string(f.Code)),
			Where: cleanLine(f.Where()), Message: cleanLine(f.Message),
		})
	}
	return out
}

// severityClass returns the CSS class of a finding: the class of an outcome or change that is
// as bad.
func severityClass(s plan.Severity) string {
	switch s {
	case plan.SeverityError:
		return "failed"
	case plan.SeverityWarning:
		return "modified"
	case plan.SeverityNote:
	}
	return "other"
}

// A remarkedView holds the findings of tasks that passed.
type remarkedView struct {
	Note, More string
	Count      int
	Tasks      []remarkedTask
}

// A remarkedTask is one task that passed, with its findings.
type remarkedTask struct {
	Task     value
	Findings findingList
}

// newRemarkedView returns the findings of tasks that passed, or nil if there are none.
func newRemarkedView(r Remarked) *remarkedView {
	if len(r.Tasks)+r.Old == 0 {
		return nil
	}
	v := &remarkedView{Note: startSentence(cmp.Or(r.Summary, r.OldNote())), Count: len(r.Tasks)}
	if note := r.OldNote(); note != "" && r.Summary != "" {
		v.Note += "; " + note
	}
	for _, t := range r.Tasks[:min(len(r.Tasks), maxRemarked)] {
		v.Tasks = append(v.Tasks, remarkedTask{value{Text: visibleText(t.Task), Href: "#" + anchor(t.Integration)},
			newFindingList(t)})
	}
	if more := len(r.Tasks) - len(v.Tasks); more > 0 {
		v.More = "and " + phrase.Count(more, "more task")
	}
	return v
}
