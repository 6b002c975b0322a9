package note

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	md "github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/internal/names"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// The bounds of the limit of a body, in characters. GitLab accepts a million.
const (
	DefaultLimit = 990_000
	MinLimit     = 500
)

// A Note is the note of one tool on one merge request.
type Note struct {
	// Tool identifies the tool, so that its note is not mistaken for the note of
	// another tool. It has at most 40 lower-case letters, digits and single
	// hyphens between them.
	Tool    string
	Plan    *plan.Plan
	Results *plan.Results // of all parts of the plan; a task without a result has failed
	// Unplanned is the output of the planner when no plan could be made. It is
	// set in place of Plan; the note then says that nothing was checked.
	Unplanned string
	Serial    int64  // the generation of the note: greater for a newer pipeline, never negative
	Commit    string // the commit that was checked
	Links     Links
	Labels    Labels         // that the effects need
	Locator   report.Locator // finds the lines of findings; nil if the files are not at hand
	Limit     int            // largest size of the body in characters; 0 means DefaultLimit
}

// Labels are the labels that the effects of a change need.
type Labels struct {
	Needed  []report.NeededLabel
	Missing []report.NeededLabel // those that the merge request does not have
	Asked   bool                 // whether this is the job of a merge request, whose labels count
	Known   bool                 // whether it is known which labels the merge request has
}

// Links are the addresses that a note links to. Each of them may be missing. An
// address is left out if it is not http or https or contains credentials.
type Links struct {
	Pipeline string
	Report   string
	Log      func(task string) string // returns the address of the log of a task
}

// Marker returns the beginning of the body of every note of this tool. No other
// note begins with it.
func (n Note) Marker() string { return "<!-- prcheck-note:" + n.Tool + " " }

// Generation returns the generation of a note from its body, and whether the body
// is a note of this tool.
func (n Note) Generation(body string) (int64, bool) {
	s, ok := n.readState(body)
	return s.Generation, ok
}

// Body returns the body of the note. Previous is the body that it replaces, or "".
// Only the marker of previous is read, and ignored if it is damaged.
func (n Note) Body(previous string) (string, error) {
	limit := cmp.Or(n.Limit, DefaultLimit)
	if err := n.validate(limit); err != nil {
		return "", fmt.Errorf("writing the note: %w", err)
	}
	rep := n.newReport()
	s := n.newState(rep, previous, limit)
	first := n.Marker() + s.encode() + markerEnd
	body, ok := n.newContent(rep, s.Before).renderWithin(first, limit)
	if !ok {
		return "", fmt.Errorf("writing the note: not even its first line fits into %d characters", limit)
	}
	return body, nil
}

// validate returns an error if the fields of the note are wrong.
func (n Note) validate(limit int) error {
	switch {
	case !names.IsTool(n.Tool):
		return fmt.Errorf("the tool id is %q; it must be lower-case letters, digits and single hyphens between them, at "+
			"most 40", n.Tool)
	case n.Plan == nil && strings.TrimSpace(n.Unplanned) == "":
		return errors.New("there is no plan; give the plan that was run, or the output of the planner that could not " +
			"make one")
	case n.Serial < 0:
		return fmt.Errorf("the generation is %d; it must not be negative", n.Serial)
	case limit < MinLimit:
		return fmt.Errorf("the limit is %d characters; it must be at least %d", limit, MinLimit)
	}
	return nil
}

// newReport returns the report that the note shows. Without a plan this is an empty
// report that failed.
func (n Note) newReport() *report.Report {
	if n.Plan == nil {
		return &report.Report{Verdict: plan.VerdictFailed}
	}
	rep := report.New(n.Plan, n.Results)
	if n.Locator != nil {
		rep.Locate(n.Locator)
	}
	return rep
}

// listActions says for each label that the effects need whether the merge request has it.
func (l Labels) listActions() []string {
	var out []string
	for _, needed := range l.Needed {
		switch {
		case !l.Asked:
			out = append(out, fmt.Sprintf("- A merge request with these effects needs the label %s: %s.", showName(needed.Label),
				needed.Why))
		case !l.Known:
			out = append(out, fmt.Sprintf("- **Needs the label %s**: %s. It is not known whether the merge request has it.",
				showName(needed.Label), needed.Why))
		case slices.Contains(l.Missing, needed):
			out = append(out, fmt.Sprintf("- **Needs the label %s**: %s. Add the label, then run this job again.",
				showName(needed.Label), needed.Why))
		default:
			out = append(out, fmt.Sprintf("- ✅ The merge request has the label %s, which it needs: %s.", showName(needed.Label),
				needed.Why))
		}
	}
	return out
}

// block reports whether a check that passed is not green, because a label is missing or is
// not known.
func (l Labels) block() bool { return l.Asked && len(l.Needed) > 0 && (!l.Known || len(l.Missing) > 0) }

// verdict returns the verdict of the check and its labels together.
func (n Note) verdict(rep *report.Report) plan.Verdict {
	if rep.Verdict == plan.VerdictPassed && n.Labels.block() {
		return plan.VerdictFailed
	}
	return rep.Verdict
}

// A content holds all parts of a note as Markdown. A note shows as much of it as
// there is room for.
type content struct {
	title    string
	actions  []string // what the author must do, in short
	summary  string   // what the change touches, and how much is checked
	sections []section
	findings findingsPart
	effects  effectsPart
	fixed    []string
	warnings []string
	ran      fold
	skipped  []fold
	since    fold
	footer   string
}

// A fold is a folded table with a summary.
type fold struct {
	summary string
	head    []string
	rows    []string
}

// newContent returns the content of a note. Before is the run that this run is
// compared with, or nil.
func (n Note) newContent(rep *report.Report, before *run) *content {
	if n.Plan == nil {
		return n.newUnplannedContent()
	}
	groups := groupTasks(rep, before)
	c := &content{
		title:    n.title(rep),
		actions:  append(n.Labels.listActions(), groups.listActions(rep, before)...),
		summary:  changeSummary(n.Plan, rep),
		sections: n.newSections(groups),
		findings: newFindingsPart(rep.Remarked()),
		effects:  n.newEffectsPart(rep),
		ran:      n.newTasksFold(rep),
		skipped:  append(newSkippedFolds(rep), newTrainFold(rep.Train)),
		since:    newSinceFold(n.Plan, before),
		footer:   n.footer(),
	}
	for _, t := range groups.fixed {
		c.fixed = append(c.fixed, showName(t.Task))
	}
	for _, warning := range rep.Warnings {
		c.warnings = append(c.warnings, "- ⚠️ "+md.Escape(warning))
	}
	if rep.Audit != nil {
		c.summary += " " + md.Escape("Audit: "+report.AuditSummary(rep.Audit)+".")
		for _, line := range report.AuditLines(rep.Audit) {
			c.warnings = append(c.warnings, "- ⚠️ "+md.Escape(line))
		}
	}
	return c
}

// newUnplannedContent returns the content of a note without a plan.
func (n Note) newUnplannedContent() *content {
	c := &content{
		title: "### ❌ " + md.Escape(n.Tool) + ": could not be planned",
		actions: []string{
			"- **Nothing was checked**, so this does not pass: no plan could be made of the change.",
			"- **Look at the last words of planner** below. If they name a temporary problem, run the pipeline again.",
		},
		footer: n.footer(),
	}
	if lines := lastLines(n.Unplanned, maxUnplannedLines); len(lines) > 0 {
		c.sections = []section{{title: "#### Last words of planner", tasks: 1, entries: []entry{{tail: lines}}}}
	}
	return c
}

// title returns the verdict and the numbers of effects in one line.
func (n Note) title(rep *report.Report) string {
	c, sign, text := rep.Counts, "✅", ""
	if n.verdict(rep) == plan.VerdictFailed {
		sign = "❌"
	}
	if rep.Verdict == plan.VerdictNotChecked {
		sign = "⚠️"
	}
	switch failed := c.Tasks - c.Passed; {
	case rep.Verdict == plan.VerdictNotChecked:
		text = "not checked"
	case failed > 0 && failed == c.Tasks && rep.Verdict == plan.VerdictPassed:
		text = fmt.Sprintf("not checked, %d of %s failed without blocking", failed, phrase.Count(c.Tasks, "task"))
	case failed > 0 && rep.Verdict == plan.VerdictPassed:
		text = fmt.Sprintf("passed, %d of %s failed without blocking", failed, phrase.Count(c.Tasks, "task"))
	case failed > 0:
		text = fmt.Sprintf("%d of %s did not pass", failed, phrase.Count(c.Tasks, "task"))
	case rep.Verdict == plan.VerdictFailed:
		text = "the results do not fit the plan"
	case c.Tasks == 0 && c.Reused > 0:
		text = "nothing new to check, " + phrase.Count(c.Reused, "task") + " passed before"
	case c.Tasks == 0:
		text = "nothing to check"
	default:
		text = phrase.Count(c.Tasks, "task") + " passed"
	}
	if rep.Verdict == plan.VerdictPassed && n.Labels.block() {
		text = "a label is needed, " + text
	}
	if effects := rep.Effects.SummaryWith(bold); effects != "" {
		text += "; " + effects
	}
	if findings := rep.Remarked().Summary; findings != "" {
		text += "; " + findings
	}
	return fmt.Sprintf("### %s %s: %s", sign, md.Escape(n.Tool), text)
}

// changeSummary returns what the change touches, how much of it is checked, and
// how long the check took.
func changeSummary(p *plan.Plan, rep *report.Report) string {
	ch := p.Changes
	var parts []string
	for _, part := range []struct {
		n    int
		noun string
	}{{len(ch.Datafiles), "datafile"}, {len(ch.Resources), "resource"}, {len(ch.Schemas), "schema"},
		{len(ch.GraphQL), "GraphQL type"}} {
		if part.n > 0 {
			parts = append(parts, phrase.Count(part.n, part.noun))
		}
	}
	text := "This change touches no data."
	if len(parts) > 0 {
		text = "This change touches " + strings.Join(parts, ", ") + "."
	}
	c := rep.Counts
	switch {
	case c.Integrations == 0:
		text += " There are no integrations."
	case c.Run+c.Shards == 0:
		text += fmt.Sprintf(" Of %s none has to be checked; the reasons are below.",
			phrase.Count(c.Integrations, "integration"))
	default:
		text += fmt.Sprintf(" Checked: %d of %s. Skipped: %d.", c.Run+c.Shards, phrase.Count(c.Integrations, "integration"),
			c.Skip)
	}
	if c.Reused > 0 {
		text += fmt.Sprintf(" Not run again: %s that passed with the same inputs before.", phrase.Count(c.Reused, "task"))
	}
	if rep.Train != nil {
		text += " Merge train: " + rep.Train.String() + "."
	}
	return text + durationSummary(rep)
}

// durationSummary returns how long the run took, and how long all tasks took together. Its words follow
// from the number of tasks, not from a clock, so that two notes on the same run are alike.
func durationSummary(rep *report.Report) string {
	last, ran, hasRun := 0.0, 0, rep.Counts.Seconds > 0
	for _, t := range rep.Results {
		if len(t.Spans) > 0 {
			hasRun, ran = true, ran+1
		}
		for _, span := range t.Spans {
			last = max(last, span.End())
		}
	}
	wall, work := formatSeconds(last), formatSeconds(rep.Counts.Seconds)
	switch {
	case !hasRun:
		return ""
	case ran < 2:
		return fmt.Sprintf(" It took %s.", work)
	}
	return fmt.Sprintf(" It took %s for %s of work.", wall, work)
}

// footer returns the plan, the commit and links to more details.
func (n Note) footer() string {
	var parts []string
	if digest := n.planDigest(); digest != "" {
		parts = append(parts, "plan "+md.Code(digest))
	}
	if commitPattern.MatchString(n.Commit) {
		parts = append(parts, "commit "+md.Code(shortHash(n.Commit)))
	}
	parts = append(parts, newLink("pipeline", n.Links.Pipeline), newLink("full report", n.Links.Report))
	return joinNonEmpty(" · ", parts...)
}

// newTasksFold returns a table of all tasks with their results.
func (n Note) newTasksFold(rep *report.Report) fold {
	f := fold{head: []string{"task", "result", "time", "last line", "checked because", "log"}}
	if len(rep.Results) == 0 {
		return f
	}
	ends := map[plan.Status]int{}
	for _, t := range rep.Results {
		ends[t.Status]++
		sign, took := "❌", ""
		switch {
		case t.OK():
			sign = "✅"
		case t.OnBase(), classify(t.Result) == kindUnchecked:
			sign = "⚠️"
		}
		if t.Attempts > 0 {
			took = formatSeconds(t.Seconds)
		}
		d, _ := n.Plan.Decision(t.Integration)
		f.rows = append(f.rows, tableRow(showName(t.Task), sign+" "+md.Escape(describeResult(t)), took,
			md.Escape(lastLine(t.Tail)), md.Escape(d.Reason), n.logLink(t)))
	}
	f.summary = phrase.Count(len(rep.Results), "task") + " planned: " +
		joinNonEmpty(", ", countUnlessZero(ends[plan.Passed], "passed"), countUnlessZero(ends[plan.Failed], "failed"),
			countUnlessZero(ends[plan.TimedOut], "timed out"), countUnlessZero(ends[plan.Canceled], "canceled"),
			countUnlessZero(ends[plan.NotRun], "not run"))
	return f
}

// newSkippedFolds returns for each rung a table of the integrations that it skipped.
func newSkippedFolds(rep *report.Report) []fold {
	var out []fold
	for _, rung := range plan.Rungs() {
		f := fold{head: []string{"integration", "why"}}
		for _, i := range rep.Integrations {
			if i.Decision == plan.Skip && i.Rung == rung {
				f.rows = append(f.rows, tableRow(showName(i.Name), md.Escape(i.Reason)))
			}
		}
		if len(f.rows) > 0 {
			f.summary = fmt.Sprintf("%d skipped: %s (%s)", len(f.rows), rung.Skipped(), rung)
			out = append(out, f)
		}
	}
	return out
}

// newTrainFold returns a table of the results that do not hold in a merge train.
func newTrainFold(t *plan.Train) fold {
	f := fold{head: []string{"task", "why it does not hold"}}
	if t == nil || t.Hold == t.Results {
		return f
	}
	for _, m := range t.Moved {
		f.rows = append(f.rows, tableRow(showName(m.Name()), md.Escape(m.Reason)))
	}
	f.summary = fmt.Sprintf("results of the merge request's pipeline that do not hold in this train: %d", t.Results-t.Hold)
	if more := t.More(); more > 0 {
		f.summary += fmt.Sprintf(", %d of them not listed", more)
	}
	return f
}

// newSinceFold returns a table of the integrations that are checked now and were
// not checked in the run before, and the reverse.
func newSinceFold(p *plan.Plan, before *run) fold {
	checkedBefore, known := before.checkedHashes()
	if !known {
		return fold{}
	}
	f := fold{head: []string{"integration", "since then"}}
	more, fewer, gone := 0, 0, len(checkedBefore)
	for _, d := range p.Integrations {
		is, was := d.Decision != plan.Skip, checkedBefore[hashName(d.Name)]
		if was {
			gone--
		}
		switch {
		case is && !was:
			more++
			f.rows = append(f.rows, tableRow(showName(d.Name), "checked now: "+md.Escape(d.Reason)))
		case was && !is:
			fewer++
			f.rows = append(f.rows, tableRow(showName(d.Name), "not checked any more: "+md.Escape(d.Reason)))
		}
	}
	changes := joinNonEmpty(", ", countUnlessZero(more, "newly checked"), countUnlessZero(fewer, "not checked any more"),
		countUnlessZero(gone, "not there any more"))
	if changes == "" {
		changes = "the same integrations are checked"
	}
	if before.Tasks != len(p.Tasks) {
		changes += fmt.Sprintf("; %s, before %d", phrase.Count(len(p.Tasks), "task"), before.Tasks)
	}
	f.summary = fmt.Sprintf("Since %s, which %s: %s", before.htmlName(), before.endVerb(), changes)
	return f
}
