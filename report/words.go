package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
)

// block makes untrusted text harmless and keeps its lines.
func block(text string) string { return strings.Trim(sanitize.Text(text), "\n") }

// maxLine bounds a value that is shown on one line, in runes.
const maxLine = 500

// line makes one harmless, bounded line of an untrusted value.
func line(text string) string {
	text = sanitize.Line(text)
	if utf8.RuneCountInString(text) > maxLine {
		text = string([]rune(text)[:maxLine]) + "…"
	}
	return text
}

// number returns "1 task" or "2 tasks".
func number(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// headline returns the verdict in one sentence.
func headline(rep *Report) string {
	c := rep.Counts
	broken := ""
	if c.Baseline > 0 {
		broken = fmt.Sprintf(", %d already broken on base", c.Baseline)
	}
	switch bad := c.bad(); {
	case rep.Verdict == NotChecked:
		return line(rep.NotChecked)
	case bad > 0:
		return fmt.Sprintf("%d of %s did not pass (%s)%s", bad, number(c.Tasks, "task"), breakdown(c), broken)
	case rep.Verdict == Failed:
		return "the results do not fit the plan, see the warnings"
	case c.Tasks == 0:
		return "nothing to run"
	case c.Baseline > 0 && c.Passed == 0:
		return fmt.Sprintf("%d of %s passed%s: not checked", c.Passed, number(c.Tasks, "task"), broken)
	case c.Baseline > 0:
		return fmt.Sprintf("%d of %s passed%s", c.Passed, number(c.Tasks, "task"), broken)
	}
	return number(c.Tasks, "task") + " passed"
}

// verdictWords returns a verdict as people read it.
func verdictWords(v Verdict) string { return strings.ReplaceAll(string(v), "_", " ") }

// bad returns how many tasks fail the check.
func (c Counts) bad() int { return c.Tasks - c.Passed - c.Baseline }

// breakdown returns how tasks ended that did not pass.
func breakdown(c Counts) string {
	var parts []string
	for _, end := range []struct {
		n    int
		word string
	}{{c.Failed, "failed"}, {c.TimedOut, "timed out"}, {c.Canceled, "canceled"}, {c.NotRun - c.Unavailable, "not run"},
		{c.Unavailable, "not run since the target is unavailable"}} {
		if end.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", end.n, end.word))
		}
	}
	return strings.Join(parts, ", ")
}

// planHeadline returns the plan in one sentence.
func planHeadline(p *plan.Plan) string {
	blocked := 0
	for _, t := range p.Tasks {
		if t.Blocked != "" {
			blocked++
		}
	}
	switch {
	case len(p.Tasks) == 0:
		return "nothing to run"
	case blocked > 0:
		return fmt.Sprintf("%s to run, %d of them cannot be started", number(len(p.Tasks), "task"), blocked)
	}
	return number(len(p.Tasks), "task") + " to run"
}

// share returns how many integrations run and how many are skipped.
func share(c Counts) string {
	text := fmt.Sprintf("%d of %s to check", c.Run+c.Shards, number(c.Integrations, "integration"))
	if c.Shards > 0 {
		text += fmt.Sprintf(" (%d on some shards only)", c.Shards)
	}
	text = fmt.Sprintf("%s, %d skipped", text, c.Skip)
	if c.Reused > 0 {
		text += fmt.Sprintf("; %s passed before with the same inputs", number(c.Reused, "task"))
	}
	return text
}

// seconds returns "3.2s" or "2m03s".
func seconds(s float64) string {
	if s < 60 {
		return fmt.Sprintf("%.1fs", s)
	}
	whole := int(s + 0.5)
	return fmt.Sprintf("%dm%02ds", whole/60, whole%60)
}

// result returns what a task said in a few words: "failed: exit code 3".
func result(t Task) string {
	switch {
	case t.OnBase():
		return "already broken on base" + since(t.Baseline) + ": " + line(t.Reason)
	case t.OK() && len(remarks(t)) > 0:
		return "passed " + strings.Join(remarks(t), ", ")
	}
	return end(t.Status, t.Reason)
}

// end returns how an attempt ended in a few words.
func end(status plan.Status, reason string) string {
	text := strings.ReplaceAll(string(status), "_", " ")
	switch reason = line(reason); {
	case reason == "" || reason == text:
		return line(text)
	case strings.HasPrefix(reason, text):
		return reason
	default:
		return line(text) + ": " + reason
	}
}

// maxWord bounds the last line of a task in an overview, in runes.
const maxWord = 100

// lastWord returns the last line that a passed task wrote: most say there what
// they would change.
func lastWord(t Task) string {
	if !t.OK() {
		return ""
	}
	return lastLine(t)
}

// lastLine returns the last line that a task wrote.
func lastLine(t Task) string {
	lines := strings.Split(strings.TrimSpace(block(t.Tail)), "\n")
	last := []rune(line(lines[len(lines)-1]))
	if len(last) > maxWord {
		return string(last[:maxWord]) + "…"
	}
	return string(last)
}

// details returns class, duration and log of a task, as far as they are known.
func details(t Task) []string {
	var parts []string
	if t.Class != "" {
		parts = append(parts, "class "+line(string(t.Class)))
	}
	if t.Attempts > 0 {
		parts = append(parts, seconds(t.Seconds))
	}
	if t.Attempts > 1 {
		parts = append(parts, number(t.Attempts, "attempt"))
	}
	return parts
}

// changed returns the changes in one sentence.
func changed(c plan.Changes) string {
	kinds := map[plan.Kind]int{}
	for _, d := range c.Datafiles {
		kinds[d.Kind]++
	}
	text := number(len(c.Datafiles), "datafile")
	var parts []string
	for _, kind := range []plan.Kind{plan.Added, plan.Removed, plan.Modified, plan.Metadata} {
		if kinds[kind] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", kinds[kind], kind))
		}
	}
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	return fmt.Sprintf("%s, %s, %s, %s", text, number(len(c.Resources), "resource"),
		number(len(c.Schemas), "schema"), number(len(c.GraphQL), "GraphQL type"))
}
