package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
)

// Bounds of the page.
const (
	maxFailures    = 100      // cards of failures; further failures are only in the table
	maxOpen        = 10       // cards whose tail is shown from the start
	maxAlikeCards  = 100      // tasks that one card names besides its own
	maxPassedTails = 32 << 10 // bytes of all last lines of passed tasks
	maxPassedTail  = 300      // bytes of the tail of a passed task
	maxFailedTails = 8 << 20  // bytes of all tails of other tasks
)

// An integrationRow is one integration with its explanation.
type integrationRow struct {
	ID, Name, Decision, Class, Rung, Reason string
	Status, StatusClass, Took               string
	Runs, Bad                               bool
	Facts                                   []fact
	Tasks                                   []taskRow
}

// A taskRow is one task as the page shows it.
type taskRow struct {
	ID, Name, Result, Class, Status string
	Started, Waited, Took, Attempts string
	Command, Tail                   string
	Last                            string // the last line of a task that passed
	Log                             value
	Bad                             bool // fails the check
	Cut                             bool // the tail was left out
}

// newRows returns one row per integration, and the data of the rows for the
// script: first the integrations that did not pass, then those that ran, then the
// skipped ones.
func newRows(page Page, files *fileIndex) ([]integrationRow, []rowData) {
	b := rowBuilder{files: files, planned: map[string]plan.Task{}, results: map[string]TaskResult{},
		room: map[bool]int{false: maxPassedTails, true: maxFailedTails}}
	for _, t := range page.Plan.Tasks {
		b.planned[t.ID] = t
	}
	for _, t := range page.Report.Results {
		b.results[t.Task] = t
	}
	observed := map[string]plan.Observed{}
	for _, o := range page.Report.Observed {
		observed[o.Integration] = o
	}
	decisions := page.Plan.Integrations
	var rows []integrationRow
	var data []rowData
	for i, in := range page.Report.Integrations {
		var evidence *plan.Evidence
		if i < len(decisions) {
			evidence = &decisions[i].Evidence
		}
		r, d := b.newRow(in, evidence)
		r.Facts = append(r.Facts, observedFacts(observed[in.Name])...)
		rows, data = append(rows, r), append(data, d)
	}
	return sortRows(rows, data)
}

// A rowBuilder makes the rows of the integrations, one after the other.
type rowBuilder struct {
	files   *fileIndex
	planned map[string]plan.Task  // by task id
	results map[string]TaskResult // by task id
	room    map[bool]int          // bytes left for tails, by whether a task fails the check
}

// newRow returns the row of one integration with its tasks, and the data of the
// row. The evidence may be nil.
func (b *rowBuilder) newRow(in Integration, evidence *plan.Evidence) (integrationRow, rowData) {
	r := integrationRow{
		ID: anchor(in.Name), Name: visibleText(in.Name), Decision: cleanLine(string(in.Decision)),
		Class: cssClass(in.Decision),
		Rung:  cleanLine(string(in.Rung)), Reason: cleanLine(in.Reason), Runs: in.Decision != plan.Skip,
	}
	d := rowData{Decision: r.Class, Rung: slices.Index(plan.Rungs(), in.Rung)}
	if n := b.files.effectsOf[in.Name]; n > 0 {
		all := value{Text: phrase.Count(n, "effect"), Href: "#effects", Find: exactly(r.Name)}
		r.Facts = append(r.Facts, fact{Label: "what it does", Values: []value{all}})
	}
	if evidence != nil {
		r.Facts = append(r.Facts, b.files.evidenceFacts(*evidence)...)
	}
	var worst plan.Status
	for _, id := range in.Tasks {
		result := b.results[id]
		t := newTaskRow(b.planned[id], result)
		t.Log = b.files.logValue(result)
		if b.room[t.Bad] -= len(t.Tail) + len(t.Last); b.room[t.Bad] < 0 {
			t.Cut = t.Tail != ""
			t.Tail, t.Last = "", ""
		}
		r.Tasks = append(r.Tasks, t)
		worst = worseOutcome(worst, outcome(result))
		d.Seconds += result.Seconds
	}
	if len(r.Tasks) > 0 {
		r.Status, r.StatusClass, r.Took = statusLabel(worst), cssClass(worst), formatSeconds(d.Seconds)
		r.Bad, d.Status = worst != plan.Passed && worst != brokenOnBase, r.StatusClass
	}
	return r, d
}

// exactly returns the words of a filter that finds a text as it is.
func exactly(text string) string { return `"` + strings.ReplaceAll(text, `"`, " ") + `"` }

// sortRows returns the rows and their data in the order of their ranks. Rows of
// the same rank keep their order.
func sortRows(rows []integrationRow, data []rowData) (sortedRows []integrationRow, sortedData []rowData) {
	for _, rank := range []int{0, 1, 2} {
		for i, r := range rows {
			if r.rank() == rank {
				sortedRows, sortedData = append(sortedRows, r), append(sortedData, data[i])
			}
		}
	}
	return sortedRows, sortedData
}

// rank returns the place of a row in the table: 0 for an integration that did not
// pass, 1 for one that ran, 2 for one that was skipped.
func (r integrationRow) rank() int {
	switch {
	case r.Bad:
		return 0
	case r.Runs:
		return 1
	}
	return 2
}

// worseOutcome returns the worse of two outcomes: an integration is shown with the
// worst outcome of its tasks.
func worseOutcome(a, b plan.Status) plan.Status {
	order := []plan.Status{"", plan.Passed, brokenOnBase, unavailable, plan.NotRun, plan.Canceled, plan.TimedOut,
		plan.Failed}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}

// newTaskRow returns the row of a planned task with its result.
func newTaskRow(t plan.Task, r TaskResult) taskRow {
	row := taskRow{
		ID: t.ID, Name: visibleText(t.ID), Result: describeResult(r), Status: statusLabel(outcome(r)),
		Class: cssClass(outcome(r)), Bad: r.Blocks(),
		Tail: cleanBlock(r.Tail), Attempts: fmt.Sprint(r.Attempts),
	}
	if r.OK() {
		row.Tail, row.Last = "", lastLine(r)
	}
	if r.Attempts > 0 {
		row.Took = formatSeconds(r.Seconds)
	}
	if len(r.Spans) > 0 {
		row.Started, row.Waited = formatSeconds(r.Spans[0].Started), formatSeconds(r.Waited)
	}
	switch {
	case t.Blocked != "":
		row.Command = "not started: " + cleanLine(t.Blocked)
	case t.Native:
		row.Command = "native, in the runner itself"
	default:
		row.Command = cleanLine(formatCommand(t.Argv))
	}
	return row
}

// maxEvidence is the largest number of values of one kind of evidence that plans
// hold.
const maxEvidence = 20

// evidenceFacts returns some evidence as facts, with links to the changed files.
func (x *fileIndex) evidenceFacts(e plan.Evidence) []fact {
	var out []fact
	add := func(label string, values ...value) {
		if len(values) > 0 {
			out = append(out, fact{label, values, label == "shards"})
		}
	}
	add("definition", x.linkPaths(e.Definition)...)
	add("changed in it", codeValues(e.Fields)...)
	if e.Allowed > 0 {
		add("may read", value{Text: phrase.Count(e.Allowed, "schema")})
	}
	add("changed schemas", codeValues(e.Schemas)...)
	add("changed files", markListLimit(x.linkPaths(e.Paths))...)
	add("edited rules", codeValues(e.Edited)...)
	if e.Rule != "" {
		add("path rule", value{Text: cleanLine(e.Rule), Code: true})
	}
	for _, q := range e.Queries {
		add("query", append([]value{{Text: cleanLine(describeQuery(q))}}, markListLimit(x.linkFields(q.Fields))...)...)
	}
	var traces []value
	for _, t := range e.Traces {
		traces = append(traces, value{Text: cleanLine(describeTrace(t))})
	}
	add("trace", markListLimit(traces)...)
	if s := e.State; s != nil && s.Base == s.Head {
		add("desired state", value{Text: "the same on base and head:"}, value{Text: shorten(s.Base, 19), Code: true})
	} else if s != nil {
		add("state on base", value{Text: shorten(s.Base, 19), Code: true})
		add("state on head", value{Text: shorten(s.Head, 19), Code: true})
	}
	add("shards", codeValues(e.Keys)...)
	var passed []value
	for _, p := range e.Passed {
		passed = append(passed, value{Text: cleanLine(describeEarlier(p))})
	}
	add("passed", markListLimit(passed)...)
	var doubts []value
	for _, d := range e.Doubts {
		doubts = append(doubts, value{Text: cleanLine(d)})
	}
	add("in doubt", doubts...)
	return out
}

// observedFacts returns which schemas an integration read while it ran, and which
// it could have read but did not.
func observedFacts(o plan.Observed) []fact {
	var out []fact
	if len(o.Read) > 0 {
		out = append(out, fact{"read while it ran", codeValues(o.Read), true})
	}
	if len(o.Beyond) > 0 {
		out = append(out, fact{"not allowed, but depended on", codeValues(o.Beyond), true})
	}
	if len(o.Unread) > 0 && !o.Partial {
		out = append(out, fact{"allowed, not read", codeValues(o.Unread), true})
	}
	return out
}

// markListLimit adds a remark to a list that is so long that the plan may not hold
// all of it.
func markListLimit(values []value) []value {
	if len(values) < maxEvidence {
		return values
	}
	return append(values, value{Text: fmt.Sprintf("(a plan lists at most %d)", maxEvidence)})
}

// codeValues returns texts as values that are shown as code.
func codeValues(texts []string) []value {
	var out []value
	for _, text := range texts {
		out = append(out, value{Text: cleanLine(text), Code: true})
	}
	return out
}

// ChangesText writes all changes between two bundles as text, one line per file,
// schema or type.
func ChangesText(w io.Writer, c plan.Changes) error {
	var out strings.Builder
	var rows table
	for _, f := range c.Datafiles {
		schema := cleanLine(f.Schema)
		if f.OldSchema != "" {
			schema += " (was " + cleanLine(f.OldSchema) + ")"
		}
		rows = append(rows, []cell{{text: string(f.Kind)}, {text: cleanLine(f.Path)}, {text: schema},
			{text: cleanLine(strings.Join(f.Fields, " "))}})
	}
	for _, r := range c.Resources {
		rows = append(rows, []cell{{text: string(r.Kind)}, {text: "resource " + cleanLine(r.Path)},
			{text: cleanLine(r.Schema)}, {}})
	}
	for _, s := range c.Schemas {
		rows = append(rows, []cell{{text: "changed"}, {text: "JSON schema " + cleanLine(s)}, {}, {}})
	}
	for _, name := range c.GraphQL {
		rows = append(rows, []cell{{text: "changed"}, {text: "GraphQL type " + cleanLine(name)}, {}, {}})
	}
	if len(rows) == 0 {
		out.WriteString("nothing differs\n")
	}
	rows.writeTo(&out, Style{}, "")
	_, err := io.WriteString(w, out.String())
	return err
}

// maxLine bounds a value that is shown on one line, in runes.
const maxLine = 500

// Printable returns an untrusted value as one line without control characters,
// bounded in length.
func Printable(text string) string { return cleanLine(text) }

// cleanLine returns an untrusted value as one line without control characters,
// bounded in length.
func cleanLine(text string) string {
	text = sanitize.Line(text)
	if utf8.RuneCountInString(text) > maxLine {
		text = string([]rune(text)[:maxLine]) + "…"
	}
	return text
}

// cleanLines applies cleanLine to each text.
func cleanLines(texts []string) []string {
	var out []string
	for _, text := range texts {
		out = append(out, cleanLine(text))
	}
	return out
}

// cleanBlock removes control characters from untrusted text and keeps its lines.
func cleanBlock(text string) string { return strings.Trim(sanitize.Text(text), "\n") }

// formatSeconds returns a duration as "3.2s" or "2m03s".
func formatSeconds(s float64) string {
	if s < 60 {
		return fmt.Sprintf("%.1fs", s)
	}
	whole := int(s + 0.5)
	return fmt.Sprintf("%dm%02ds", whole/60, whole%60)
}

// formatMinute returns a time to the minute, in UTC.
func formatMinute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") + " UTC" }
