package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

// maxChanges bounds how many changed files are listed.
const maxChanges = 20

// Text writes a report as text for a terminal: the verdict, what each rung decided,
// the failures with their last lines, the tasks that were not checked, all tasks,
// all decisions, and the warnings.
func Text(w io.Writer, rep *Report, style Style) error {
	t := text{style: style}
	color := green
	switch {
	case rep.Verdict == Failed:
		color = red
	case rep.Verdict == NotChecked, rep.Counts.Baseline > 0:
		color = yellow
	}
	t.printLine("%s: %s", style.paint(color, strings.ToUpper(verdictLabel(rep.Verdict))), headline(rep))
	t.writeFunnel(rep)
	t.writeFailures("Failures", red, rep.failedTasks())
	t.writeUnchecked(rep)
	t.writeEffects(rep.Effects)
	t.writeFailures("Already broken on base", yellow, rep.brokenTasks())
	t.writeTasks(rep.Results)
	t.writeCalibration(rep.Estimates)
	t.writeDecisions(rep)
	t.writeSchemas(rep.Observed)
	t.writeWarnings(rep.Warnings)
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
		rows = append(rows, []cell{{text: string(r.Rung)}, numberCell(strconv.Itoa(r.Run)), numberCell(strconv.Itoa(r.Shards)),
			numberCell(strconv.Itoa(r.Skip)), numberCell(strconv.Itoa(r.Left))})
	}
	rows.writeTo(&t.out, t.style, "  ")
}

// writeFailures writes a list of tasks that did not pass, with the last lines of
// their output.
func (t *text) writeFailures(title string, color color, tasks []Task) {
	if len(tasks) == 0 {
		return
	}
	t.printHeading("%s (%d)", title, len(tasks))
	unstarted := func(task Task) bool { return task.Status == plan.Canceled && task.Attempts == 0 }
	started := slices.DeleteFunc(slices.Clone(tasks), unstarted)
	for i, task := range started {
		if i > 0 {
			t.printLine("")
		}
		t.writeFailure(color, task)
	}
	// The tasks that an interrupted run did not start are only counted: the list of all tasks names them.
	if n := len(tasks) - len(started); n > 0 {
		if len(started) > 0 {
			t.printLine("")
		}
		t.printLine("  %s canceled before the start", countNoun(n, "task"))
	}
}

// writeFailure writes one task that did not pass.
func (t *text) writeFailure(color color, task Task) {
	details := describeEffort(task)
	if task.Log != "" {
		details = append(details, "log "+cleanLine(task.Log))
	}
	suffix := ""
	if len(details) > 0 {
		suffix = " (" + strings.Join(details, ", ") + ")"
	}
	t.printLine("  %s %s%s", t.style.paint(color, cleanLine(task.Task)), describeResult(task), suffix)
	for _, run := range task.OtherRuns() {
		t.printLine("    %s", run)
	}
	if tail := cleanBlock(task.Tail); tail != "" {
		for row := range strings.SplitSeq(tail, "\n") {
			t.printLine("%s", strings.TrimRight("    | "+row, " \t"))
		}
	}
}

// writeTasks writes one line per task.
func (t *text) writeTasks(tasks []Task) {
	if len(tasks) == 0 {
		return
	}
	t.printHeading("Tasks (%d)", len(tasks))
	var rows table
	for _, task := range tasks {
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
		rows = append(rows, []cell{{text: cleanLine(task.Task)}, {text: took, right: true}, {text: describeResult(task), color: color}, {text: passedLastLine(task), color: faint}})
	}
	rows.writeTo(&t.out, t.style, "  ")
}

// writeDecisions writes what runs and why, then what is skipped, by rung.
func (t *text) writeDecisions(rep *Report) {
	if running := rep.runningIntegrations(); len(running) > 0 {
		t.printHeading("To check (%d)", len(running))
		var rows table
		for _, i := range running {
			tasks := countNoun(len(i.Tasks), "task")
			rows = append(rows, []cell{{text: cleanLine(i.Name)}, {text: cleanLine(string(i.Decision)), color: yellow}, {text: tasks},
				{text: cleanLine(string(i.Rung))}, {text: cleanLine(i.Reason)}})
		}
		rows.writeTo(&t.out, t.style, "  ")
	}
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
		rows = append(rows, []cell{{text: cleanLine(string(d.Kind))}, {text: cleanLine(d.Path)}, {text: cleanLine(d.Schema)}, {text: fields, color: faint}})
	}
	for _, r := range c.Resources {
		if len(rows) == maxChanges {
			break
		}
		rows = append(rows, []cell{{text: cleanLine(string(r.Kind))}, {text: cleanLine(r.Path)}, {text: cleanLine(r.Schema)}})
	}
	rows.writeTo(&t.out, t.style, "  ")
	if more := len(c.Datafiles) + len(c.Resources) - len(rows); more > 0 {
		t.printLine("  and %s", countNoun(more, "more file"))
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
