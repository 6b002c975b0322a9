package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

// maxChanges bounds how many changed files are listed.
const maxChanges = 20

// Text writes a report as text for a terminal. The end of a text is what a terminal shows,
// so the order is: what each rung decided, all tasks, what was skipped, what holds in a merge train, remarks, the
// audit, tasks that are broken on base or were not checked, findings of tasks that passed, effects, failures, and the
// verdict in the last line.
func Text(w io.Writer, rep *Report, style Style) error {
	t := text{style: style}
	color := green
	switch {
	case rep.Verdict == plan.VerdictFailed:
		color = red
	case rep.Verdict == plan.VerdictNotChecked, rep.Counts.Baseline > 0:
		color = yellow
	}
	t.writeFunnel(rep)
	t.writeTasks(rep)
	t.writeCalibration(rep.Estimates)
	t.writeForecast(rep.Forecast)
	t.writeSkipped(rep)
	t.writeTrain(rep.Train)
	t.writeSchemas(rep.Observed)
	t.writeWarnings(rep.Warnings)
	t.writeAudit(rep.Audit)
	t.writeFailures("Already broken on base", yellow, rep, rep.brokenTasks())
	t.writeUnchecked(rep)
	t.writeRemarked(rep.Remarked())
	t.writeEffects(rep.Effects)
	t.writeFailures("Failures", red, rep, rep.failedTasks())
	t.printLine("\n%s: %s", style.paint(color, strings.ToUpper(verdictLabel(rep.Verdict))), headline(rep))
	return t.writeTo(w)
}

// PlanText writes a plan as text for a terminal: what each rung decided, what
// changed, what runs and why, what is skipped and why.
func PlanText(w io.Writer, p *plan.Plan, style Style) error {
	t, rep := text{style: style}, newOutline(p)
	t.printLine("%s: %s", style.paint(bold, "PLAN"), planHeadline(p))
	t.writeFunnel(rep)
	t.writeChanges(p.Changes)
	t.writeDecisions(rep)
	t.writeTrain(rep.Train)
	t.writeWarnings(rep.Warnings)
	return t.writeTo(w)
}

// text collects the lines of a report in memory.
type text struct {
	style Style
	out   strings.Builder
}

// printLine adds a line.
func (t *text) printLine(format string, args ...any) {
	fmt.Fprintf(&t.out, format+"\n", args...)
}

// printHeading adds an empty line and the heading of a section.
func (t *text) printHeading(format string, args ...any) {
	t.printLine("\n%s", t.style.paint(bold, fmt.Sprintf(format, args...)))
}

// writeTo writes the collected lines.
func (t *text) writeTo(w io.Writer) error {
	_, err := io.WriteString(w, t.out.String())
	return err
}

// writeFunnel writes how many integrations each rung decided and how many it left.
func (t *text) writeFunnel(rep *Report) {
	t.printLine("%s", selectionSummary(rep.Counts))
	t.printLine("")
	rows := table{{{text: "decided at", color: bold}, {text: "run", right: true}, {text: "shards", right: true},
		{text: "skip", right: true}, {text: "left", right: true}}}
	for _, r := range rep.shownRungs() {
		rows = append(rows, []cell{{text: string(r.Rung)}, numberCell(strconv.Itoa(r.Run)),
			numberCell(strconv.Itoa(r.Shards)),
			numberCell(strconv.Itoa(r.Skip)), numberCell(strconv.Itoa(r.Left))})
	}
	rows.writeTo(&t.out, t.style, "  ")
}

// writeFailures writes a list of tasks that did not pass, grouped by the cause of their
// failure, with the last lines of the first task of each group.
func (t *text) writeFailures(title string, color color, rep *Report, tasks []TaskResult) {
	if len(tasks) == 0 {
		return
	}
	t.printHeading("%s (%d)", title, len(tasks))
	unstarted := func(task TaskResult) bool { return task.Status == plan.Canceled && task.Attempts == 0 }
	started := slices.DeleteFunc(slices.Clone(tasks), unstarted)
	for i, group := range GroupFailures(started) {
		if i > 0 {
			t.printLine("")
		}
		t.writeFailure(color, rep.integration(group[0]), group)
	}
	// The tasks that an interrupted run did not start are only counted: the list of all tasks names them.
	if n := len(tasks) - len(started); n > 0 {
		if len(started) > 0 {
			t.printLine("")
		}
		t.printLine("  %s canceled before the start", phrase.Count(n, "task"))
	}
}

// writeFailure writes the first task of a group that did not pass, why it was checked, and
// the names of the others.
func (t *text) writeFailure(color color, in Integration, group FailureGroup) {
	task := group[0]
	details := describeEffort(task)
	if task.Log != "" {
		details = append(details, "log "+cleanLine(task.Log))
	}
	suffix := ""
	if len(details) > 0 {
		suffix = " (" + strings.Join(details, ", ") + ")"
	}
	name := t.style.paint(color, cleanLine(task.Task))
	if more := len(group) - 1; more > 0 {
		name += fmt.Sprintf(" and %d more", more)
	}
	t.printLine("  %s %s%s", name, describeResult(task), suffix)
	if in.Reason != "" {
		t.printLine("    checked because %s", cleanLine(in.Reason))
	}
	if causes := in.describeCauses(cleanLine); causes != "" {
		t.printLine("    changed: %s", causes)
	}
	for _, run := range task.OtherRuns() {
		t.printLine("    %s", run)
	}
	t.writeFindings(task)
	if tail := cleanBlock(task.Tail); tail != "" {
		for row := range strings.SplitSeq(tail, "\n") {
			t.printLine("%s", strings.TrimRight("    | "+row, " \t"))
		}
	}
	t.writeOthers(group)
}

// writeOthers writes the names of the tasks of a group besides the first.
func (t *text) writeOthers(group FailureGroup) {
	others := group.others()
	if len(others) == 0 {
		return
	}
	shown := others
	if !t.style.Verbose {
		shown = others[:min(len(others), maxAlike)]
	}
	suffix := ""
	if more := len(others) - len(shown); more > 0 {
		suffix = fmt.Sprintf(" and %d more", more)
	}
	t.printLine("    the same: %s%s", strings.Join(cleanLines(shown), ", "), suffix)
}

// writeTasks writes all tasks, and below those of each integration why it was checked.
func (t *text) writeTasks(rep *Report) {
	running := rep.runningIntegrations()
	if len(running)+len(rep.Results) == 0 {
		return
	}
	results := make(map[string]TaskResult, len(rep.Results))
	for _, task := range rep.Results {
		results[task.Task] = task
	}
	t.printHeading("Checked: %s, %s", phrase.Count(len(running), "integration"), phrase.Count(len(rep.Results), "task"))
	var rows table
	for _, i := range running {
		for _, id := range i.Tasks {
			rows = append(rows, taskCells(results[id]))
			delete(results, id)
		}
		rows = append(rows,
			[]cell{{text: fmt.Sprintf("    %s: %s", cleanLine(string(i.Rung)), cleanLine(i.Reason)), color: faint}})
	}
	for _, task := range rep.Results {
		if _, left := results[task.Task]; left { // no integration lists it
			rows = append(rows, taskCells(task))
		}
	}
	rows.writeTo(&t.out, t.style, "  ")
}

// taskCells returns the row of one task.
func taskCells(task TaskResult) []cell {
	color, took := red, "-"
	switch {
	case task.OnBase(), outcome(task) == unavailable:
		color = yellow
	case task.OK():
		color = green
	}
	if task.Attempts > 0 {
		took = formatSeconds(task.Seconds)
	}
	return []cell{{text: cleanLine(task.Task)}, {text: took, right: true}, {text: describeResult(task), color: color},
		{text: passedLastLine(task), color: faint}}
}

// writeSkipped writes how many integrations were skipped, and in a verbose text which and
// why.
func (t *text) writeSkipped(rep *Report) {
	if t.style.Verbose {
		t.writeSkips(rep)
		return
	}
	var parts []string
	for _, rung := range plan.Rungs() {
		if n := len(rep.skippedAt(rung)); n > 0 {
			parts = append(parts, fmt.Sprintf("%d at %s", n, rung))
		}
	}
	if len(parts) > 0 {
		t.printLine("\nSkipped: %s (-v lists them with their reasons)", strings.Join(parts, ", "))
	}
}

// writeDecisions writes what a plan runs and why, then what it skips, by rung.
func (t *text) writeDecisions(rep *Report) {
	if running := rep.runningIntegrations(); len(running) > 0 {
		t.printHeading("To check (%d)", len(running))
		var rows table
		for _, i := range running {
			tasks := phrase.Count(len(i.Tasks), "task")
			rows = append(rows, []cell{{text: cleanLine(i.Name)}, {text: cleanLine(string(i.Decision)), color: yellow},
				{text: tasks},
				{text: cleanLine(string(i.Rung))}, {text: cleanLine(i.Reason)}})
		}
		rows.writeTo(&t.out, t.style, "  ")
	}
	t.writeSkips(rep)
}

// writeSkips writes what is skipped and why, by rung.
func (t *text) writeSkips(rep *Report) {
	for _, rung := range plan.Rungs() {
		skipped := rep.skippedAt(rung)
		if len(skipped) == 0 {
			continue
		}
		t.printHeading("Skipped at %s (%d)", rung, len(skipped))
		var rows table
		for _, i := range skipped {
			rows = append(rows, []cell{{text: cleanLine(i.Name)}, {text: cleanLine(i.Reason)}})
		}
		rows.writeTo(&t.out, t.style, "  ")
	}
}

// writeChanges writes what changed between the two bundles.
func (t *text) writeChanges(c plan.Changes) {
	t.printHeading("Changed: %s", changesSummary(c))
	var rows table
	for _, d := range c.Datafiles {
		if len(rows) == maxChanges {
			break
		}
		fields := cleanLine(strings.Join(d.Fields, " "))
		rows = append(rows, []cell{{text: cleanLine(string(d.Kind))}, {text: cleanLine(d.Path)}, {text: cleanLine(d.Schema)},
			{text: fields, color: faint}})
	}
	for _, r := range c.Resources {
		if len(rows) == maxChanges {
			break
		}
		rows = append(rows, []cell{{text: cleanLine(string(r.Kind))}, {text: cleanLine(r.Path)}, {text: cleanLine(r.Schema)}})
	}
	rows.writeTo(&t.out, t.style, "  ")
	if more := len(c.Datafiles) + len(c.Resources) - len(rows); more > 0 {
		t.printLine("  and %s", phrase.Count(more, "more file"))
	}
	for _, schema := range c.Schemas {
		t.printLine("  schema  %s", cleanLine(schema))
	}
	for _, name := range c.GraphQL {
		t.printLine("  graphql  %s", cleanLine(name))
	}
}

// writeWarnings writes one line per warning.
func (t *text) writeWarnings(warnings []string) {
	if len(warnings) == 0 {
		return
	}
	t.printHeading("Warnings (%d)", len(warnings))
	for _, warning := range warnings {
		t.printLine("  %s", t.style.paint(yellow, cleanLine(warning)))
	}
}

// A Style says how text is decorated. The zero value is plain text.
type Style struct {
	Color   bool // use terminal colours
	Verbose bool // show what is only counted otherwise
}

// A color is the ANSI code of a terminal colour or weight.
type color string

const (
	plain  color = ""
	bold   color = "1"
	red    color = "31"
	green  color = "32"
	yellow color = "33"
	faint  color = "2"
)

// paint returns text in a colour. The text must be trusted or cleaned.
func (s Style) paint(c color, text string) string {
	if !s.Color || c == plain || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// A cell is one value of a table.
type cell struct {
	text  string
	color color
	right bool // aligned to the right
}

// numberCell returns a cell with a number. A zero is shown as a faint dot.
func numberCell(text string) cell {
	if text == "0" {
		return cell{"·", faint, true}
	}
	return cell{text: text, right: true}
}

// A table is a list of rows with aligned columns. A row of one cell is a remark: it does
// not make the first column wider.
type table [][]cell

// writeTo appends the table to out, with the indent before each row.
func (t table) writeTo(out *strings.Builder, style Style, indent string) {
	var widths []int
	for _, row := range t {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if len(row) == 1 {
				continue
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c.text))
		}
	}
	for _, row := range t {
		var cells strings.Builder
		for i, c := range row {
			if i > 0 {
				cells.WriteString("  ")
			}
			space := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(c.text)))
			if c.right {
				cells.WriteString(space)
			}
			cells.WriteString(style.paint(c.color, c.text))
			if !c.right {
				cells.WriteString(space)
			}
		}
		out.WriteString(strings.TrimRight(indent+cells.String(), " ") + "\n")
	}
}

// A NeededLabel is a label that a merge request needs because of its effects.
type NeededLabel struct {
	Label string `json:"label"`
	Why   string `json:"why"` // such as "1 to delete, effects of 2 tasks unknown"
}

// neededLabels returns the labels that the effects need. A label is needed if the tasks
// announce an effect of its kind that base is not known to announce as well, if the effects
// of a task are not known, or if the change may have one at a part that nobody looked at.
func (e AllEffects) neededLabels(require map[plan.EffectKind]string) []NeededLabel {
	var labels []string
	why := map[string][]string{}
	for _, kind := range plan.EffectKinds() {
		label := require[kind]
		unasked := e.mayHave(kind)
		if label == "" || e.Counts.Of(kind)+e.doubtful()+unasked == 0 {
			continue
		}
		if _, known := why[label]; !known {
			labels, why[label] = append(labels, label), nil
		}
		var one EffectCounts
		one.add(kind, e.Counts.Of(kind))
		why[label] = append(why[label], countEffects(one, plainly)...)
		if unasked > 0 {
			why[label] = append(why[label], phrase.Count(unasked, "part")+" not looked at, where things may be deleted")
		}
	}
	var out []NeededLabel
	for _, label := range labels {
		reasons := why[label]
		switch {
		case !e.Looked():
			reasons = append(reasons, "nobody looked for effects")
		case e.doubtful() > 0:
			reasons = append(reasons, "effects of "+phrase.Count(e.doubtful(), "task")+" unknown")
		}
		out = append(out, NeededLabel{label, strings.Join(reasons, ", ")})
	}
	return out
}

// String says which label is needed, and why.
func (l NeededLabel) String() string {
	return fmt.Sprintf("needs the label %q: %s", Printable(l.Label), l.Why)
}
