package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

// maxFound bounds how many findings of a report are located.
const maxFound = 20_000

// Locate changes the report: it fills in the lines of findings.
func (rep *Report) Locate(l Locator) {
	at := findingLocator{l, map[Origin]Location{}}
	left := maxFound
	for i := range rep.Results {
		found := rep.Results[i].Findings
		for k := range found[:min(len(found), left)] {
			place := at.locate(found[k])
			found[k].Path, found[k].Line = place.Path, place.Line
		}
		left -= min(len(found), left)
		if e := rep.Results[i].Effects; e != nil {
			at.locateEffects(e.Items, &left)
		}
	}
}

// locateEffects fills in the lines of what leads to effects. Groups of effects share these places.
func (l findingLocator) locateEffects(items []plan.Effect, left *int) {
	for i := range items {
		for k := range items[i].Cause {
			if *left--; *left < 0 {
				return
			}
			place := &items[i].Cause[k].Place
			at := l.locate(plan.Finding{Place: *place})
			place.Path, place.Line = at.Path, at.Line
		}
	}
}

// withOwnPlaces returns a copy of effects whose places are not shared.
func withOwnPlaces(e *plan.Effects) *plan.Effects {
	if e == nil {
		return nil
	}
	out := *e
	out.Items = slices.Clone(e.Items)
	for i := range out.Items {
		out.Items[i].Cause = slices.Clone(out.Items[i].Cause)
	}
	return &out
}

// A findingLocator finds the lines of findings. It keeps what it found.
type findingLocator struct {
	locator Locator
	known   map[Origin]Location
}

// locate returns the location of a finding, the zero Location if it has none in the repository.
func (l findingLocator) locate(f plan.Finding) Location {
	o := Origin{Path: f.File, Pointer: f.Pointer}
	at, known := l.known[o]
	if known || f.File == "" {
		return at
	}
	if isShowablePath(strings.TrimPrefix(f.File, "/")) {
		at = l.locator.Find(f.File, f.Pointer)
	}
	if !isShowablePath(at.Path) || at.Line < 1 {
		at = Location{}
	}
	l.known[o] = at
	return at
}

// ShownFindings returns the findings of the task that people are shown: at most so many of
// those that base does not have. The other findings are described in a few words each, such as
// "3 findings that base has as well".
func (t TaskResult) ShownFindings(most int) (shown []plan.Finding, rest []string) {
	old, fresh := 0, 0
	for _, f := range t.Findings {
		switch {
		case f.Old:
			old++
			continue
		case fresh < most:
			shown = append(shown, f)
		}
		fresh++
	}
	if more := fresh - len(shown) + t.FindingsBeyond; more > 0 {
		rest = append(rest, "and "+phrase.Count(more, "more finding"))
	}
	if old > 0 {
		rest = append(rest, phrase.Count(old, "finding")+" that base has as well")
	}
	return shown, rest
}

// Remarked are the findings of tasks that passed.
type Remarked struct {
	Tasks   []TaskResult // with findings that base does not have, in plan order
	Summary string       // such as "2 warnings, 1 note"; "" without such tasks
	Old     int          // findings of further tasks, which base has as well
}

// Remarked returns the findings of tasks that passed.
func (rep *Report) Remarked() Remarked {
	var out Remarked
	counts := map[plan.Severity]int{}
	for _, t := range rep.Results {
		if !t.OK() || len(t.Findings) == 0 {
			continue
		}
		shown, _ := t.ShownFindings(len(t.Findings))
		if len(shown) == 0 {
			out.Old += len(t.Findings)
			continue
		}
		out.Tasks = append(out.Tasks, t)
		for _, f := range shown {
			counts[f.Severity]++
		}
		counts[""] += t.FindingsBeyond
	}
	var parts []string
	for _, s := range plan.Severities() {
		if n := counts[s]; n > 0 {
			parts = append(parts, phrase.Count(n, string(s)))
		}
	}
	if n := counts[""]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d more", n))
	}
	out.Summary = strings.Join(parts, ", ")
	return out
}

// OldNote says how many findings of further tasks base has as well, "" for none.
func (r Remarked) OldNote() string {
	if r.Old == 0 {
		return ""
	}
	text := "tasks that passed have " + phrase.Count(r.Old, "finding") + " that base has as well"
	if len(r.Tasks) > 0 {
		text = "other " + text
	}
	return text
}

// findingLines returns the findings of a task as plain text, one line each.
func findingLines(t TaskResult, most int) []string {
	shown, rest := t.ShownFindings(most)
	var out []string
	for _, f := range shown {
		text := cleanLine(f.Message)
		if where := f.Where(); where != "" {
			text = cleanLine(where) + ": " + text
		}
		out = append(out, cleanLine(strings.TrimSpace(string(f.Severity)+" "+string(f.Code)))+": "+text)
	}
	return append(out, rest...)
}

// The bounds of the findings that reports show.
const (
	maxShownFindings = 20  // of one task
	maxRemarked      = 100 // tasks that passed
)

// writeRemarked writes the findings of tasks that passed.
func (t *text) writeRemarked(r Remarked) {
	if len(r.Tasks)+r.Old == 0 {
		return
	}
	if len(r.Tasks) == 0 {
		t.printLine("\nFindings: %s", r.OldNote())
		return
	}
	t.printHeading("Findings of tasks that passed: %s", r.Summary)
	shown := r.Tasks
	if !t.style.Verbose {
		shown = shown[:min(len(shown), maxRemarked)]
	}
	for _, task := range shown {
		t.printLine("  %s", cleanLine(task.Task))
		t.writeFindings(task)
	}
	if more := len(r.Tasks) - len(shown); more > 0 {
		t.printLine("  and %s; -v shows them", phrase.Count(more, "more task"))
	}
	if note := r.OldNote(); note != "" {
		t.printLine("  %s", note)
	}
}

// writeFindings writes the findings of a task, beneath its name.
func (t *text) writeFindings(task TaskResult) {
	most := maxShownFindings
	if t.style.Verbose {
		most = len(task.Findings)
	}
	shown, _ := task.ShownFindings(most)
	for i, line := range findingLines(task, most) {
		color := faint
		if i < len(shown) {
			color = severityColor(shown[i].Severity)
		}
		t.printLine("    %s", t.style.paint(color, line))
	}
}

// severityColor returns the colour of a finding.
func severityColor(s plan.Severity) color {
	switch s {
	case plan.SeverityError:
		return red
	case plan.SeverityWarning:
		return yellow
	case plan.SeverityNote:
	}
	return plain
}

// writeRemarked writes the findings of tasks that passed.
func (m *markdown) writeRemarked(r Remarked) {
	if len(r.Tasks) > 0 {
		m.printLine("\n#### Findings of tasks that passed: %s", r.Summary)
	}
	for _, task := range r.Tasks[:min(len(r.Tasks), maxRemarked)] {
		m.printLine("\n**%s**\n", codeSpan(task.Task))
		for _, line := range markdownFindings(task) {
			m.printLine("%s", line)
		}
	}
	if more := len(r.Tasks) - maxRemarked; more > 0 {
		m.printLine("\nand %s.", phrase.Count(more, "more task"))
	}
	if note := r.OldNote(); note != "" {
		m.printLine("\n%s.", startSentence(note))
	}
}

// markdownFindings returns the findings of a task as items of a list.
func markdownFindings(t TaskResult) []string {
	shown, rest := t.ShownFindings(maxShownFindings)
	var out []string
	for _, f := range shown {
		out = append(out, "- "+FindingMarkdown(f, codeSpan))
	}
	for _, text := range rest {
		out = append(out, "- "+text)
	}
	return out
}

// FindingMarkdown returns a finding as one line of Markdown. Code and place go through show, which
// makes code of them.
func FindingMarkdown(f plan.Finding, show func(string) string) string {
	text := "finding"
	if f.Severity.IsValid() {
		text = string(f.Severity)
	}
	if f.Severity != plan.SeverityNote {
		text = boldMarkdown(text)
	}
	if f.Code != "" {
		text += " " + show(string(f.Code))
	}
	if where := f.Where(); where != "" {
		text += fmt.Sprintf(" at %s", show(where))
	}
	return text + ": " + escapeMarkdown(f.Message)
}
