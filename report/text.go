package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

// maxChanges bounds how many changed files of a kind are listed.
const maxChanges = 20

// Text writes a report for people: the verdict, what each rung decided, the
// failures with their last lines, what was not checked, all tasks, all decisions, the warnings.
func Text(w io.Writer, rep *Report, style Style) error {
	t := text{style: style}
	color := green
	switch {
	case rep.Verdict == Failed:
		color = red
	case rep.Verdict == NotChecked, rep.Counts.Baseline > 0:
		color = yellow
	}
	t.line("%s: %s", style.paint(color, strings.ToUpper(verdictWords(rep.Verdict))), headline(rep))
	t.funnel(rep)
	t.failures("Failures", red, rep.failures())
	t.unchecked(rep)
	t.failures("Already broken on base", yellow, rep.broken())
	t.tasks(rep.Results)
	t.estimates(rep.Estimates)
	t.decisions(rep)
	t.unread(rep.Observed)
	t.warnings(rep.Warnings)
	return t.flush(w)
}

// PlanText writes a plan for people: what each rung decided, what changed, what
// runs and why, what is skipped and why.
func PlanText(w io.Writer, p *plan.Plan, style Style) error {
	t, rep := text{style: style}, outline(p)
	t.line("%s: %s", style.paint(bold, "PLAN"), planHeadline(p))
	t.funnel(rep)
	t.changes(p.Changes)
	t.decisions(rep)
	t.warnings(rep.Warnings)
	return t.flush(w)
}

// text collects lines.
type text struct {
	style Style
	out   strings.Builder
}

func (t *text) line(format string, args ...any) {
	fmt.Fprintf(&t.out, format+"\n", args...)
}

// heading starts a section.
func (t *text) heading(format string, args ...any) {
	t.line("\n%s", t.style.paint(bold, fmt.Sprintf(format, args...)))
}

func (t *text) flush(w io.Writer) error {
	_, err := io.WriteString(w, t.out.String())
	return err
}

// funnel shows what each rung decided and how many it left.
func (t *text) funnel(rep *Report) {
	t.line("%s", share(rep.Counts))
	t.line("")
	rows := table{{{text: "decided at", color: bold}, {text: "run", right: true}, {text: "shards", right: true},
		{text: "skip", right: true}, {text: "left", right: true}}}
	for _, r := range rep.funnel() {
		rows = append(rows, []cell{{text: string(r.Rung)}, num(strconv.Itoa(r.Run)), num(strconv.Itoa(r.Shards)),
			num(strconv.Itoa(r.Skip)), num(strconv.Itoa(r.Left))})
	}
	rows.write(&t.out, t.style, "  ")
}

// failures shows what did not pass, with the last lines of its log.
func (t *text) failures(title string, color color, tasks []Task) {
	if len(tasks) == 0 {
		return
	}
	t.heading("%s (%d)", title, len(tasks))
	unstarted := func(task Task) bool { return task.Status == plan.Canceled && task.Attempts == 0 }
	rest := slices.DeleteFunc(slices.Clone(tasks), unstarted)
	defer t.unstarted(len(tasks)-len(rest), len(rest) > 0)
	for i, task := range rest {
		if i > 0 {
			t.line("")
		}
		more := details(task)
		if task.Log != "" {
			more = append(more, "log "+line(task.Log))
		}
		suffix := ""
		if len(more) > 0 {
			suffix = " (" + strings.Join(more, ", ") + ")"
		}
		t.line("  %s %s%s", t.style.paint(color, line(task.Task)), result(task), suffix)
		for _, more := range task.Tries() {
			t.line("    %s", more)
		}
		if tail := block(task.Tail); tail != "" {
			for row := range strings.SplitSeq(tail, "\n") {
				t.line("%s", strings.TrimRight("    | "+row, " \t"))
			}
		}
	}
}

// unstarted tells how many tasks a run that was interrupted did not come to. The
// list of all tasks names them.
func (t *text) unstarted(n int, more bool) {
	if n == 0 {
		return
	}
	if more {
		t.line("")
	}
	t.line("  %s canceled before the start", number(n, "task"))
}

// tasks shows every task in one line.
func (t *text) tasks(tasks []Task) {
	if len(tasks) == 0 {
		return
	}
	t.heading("Tasks (%d)", len(tasks))
	var rows table
	for _, task := range tasks {
		color, took := red, "-"
		switch {
		case task.OnBase(), look(task) == unavailable:
			color = yellow
		case task.OK():
			color = green
		}
		if task.Attempts > 0 {
			took = seconds(task.Seconds)
		}
		rows = append(rows, []cell{{text: line(task.Task)}, {text: took, right: true}, {text: result(task), color: color}, {text: lastWord(task), color: faint}})
	}
	rows.write(&t.out, t.style, "  ")
}

// decisions shows what runs and why, then what is skipped, by rung.
func (t *text) decisions(rep *Report) {
	if running := rep.running(); len(running) > 0 {
		t.heading("To check (%d)", len(running))
		var rows table
		for _, i := range running {
			tasks := number(len(i.Tasks), "task")
			rows = append(rows, []cell{{text: line(i.Name)}, {text: line(string(i.Decision)), color: yellow}, {text: tasks},
				{text: line(string(i.Rung))}, {text: line(i.Reason)}})
		}
		rows.write(&t.out, t.style, "  ")
	}
	for _, rung := range plan.Rungs() {
		skipped := rep.skipped(rung)
		if len(skipped) == 0 {
			continue
		}
		t.heading("Skipped at %s (%d)", rung, len(skipped))
		var rows table
		for _, i := range skipped {
			rows = append(rows, []cell{{text: line(i.Name)}, {text: line(i.Reason)}})
		}
		rows.write(&t.out, t.style, "  ")
	}
}

// changes shows what changed between the two bundles.
func (t *text) changes(c plan.Changes) {
	t.heading("Changed: %s", changed(c))
	var rows table
	for _, d := range c.Datafiles {
		if len(rows) == maxChanges {
			break
		}
		fields := line(strings.Join(d.Fields, " "))
		rows = append(rows, []cell{{text: line(string(d.Kind))}, {text: line(d.Path)}, {text: line(d.Schema)}, {text: fields, color: faint}})
	}
	for _, r := range c.Resources {
		if len(rows) == maxChanges {
			break
		}
		rows = append(rows, []cell{{text: line(string(r.Kind))}, {text: line(r.Path)}, {text: line(r.Schema)}})
	}
	rows.write(&t.out, t.style, "  ")
	if more := len(c.Datafiles) + len(c.Resources) - len(rows); more > 0 {
		t.line("  and %s", number(more, "more file"))
	}
	for _, schema := range c.Schemas {
		t.line("  schema  %s", line(schema))
	}
	for _, name := range c.GraphQL {
		t.line("  graphql  %s", line(name))
	}
}

// warnings shows the warnings, one line each.
func (t *text) warnings(warnings []string) {
	if len(warnings) == 0 {
		return
	}
	t.heading("Warnings (%d)", len(warnings))
	for _, warning := range warnings {
		t.line("  %s", t.style.paint(yellow, line(warning)))
	}
}
