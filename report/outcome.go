package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

// Two outcomes that [plan.Status] does not have, since they follow from other
// fields of a result.
const (
	// brokenOnBase is the outcome of a task that fails on base in the same way:
	// it neither passed, nor did the change break it.
	brokenOnBase plan.Status = "broken_on_base"
	// unavailable is the outcome of a task that did not run because other tasks
	// had failed at its target. The task was not checked: it does not count as
	// passed, and says nothing against the change.
	unavailable plan.Status = "unavailable"
)

// outcome returns how a task ended: its status, or one of the two outcomes above.
func outcome(t TaskResult) plan.Status {
	switch {
	case t.OnBase():
		return brokenOnBase
	case t.Status == plan.NotRun && t.Unavailable != "":
		return unavailable
	}
	return t.Status
}

// describeResult returns how a task ended in a few words, such as "failed: exit
// code 3" or "passed in attempt 2".
func describeResult(t TaskResult) string {
	switch {
	case t.OnBase():
		return "already broken on base" + brokenSince(t.Baseline) + ": " + cleanLine(t.Reason)
	case t.OK() && len(attemptRemarks(t)) > 0:
		return "passed " + strings.Join(attemptRemarks(t), ", ")
	}
	return describeAttempt(t.Status, t.Reason)
}

// describeAttempt returns how an attempt ended in a few words: the status, and
// the reason unless it repeats the status.
func describeAttempt(status plan.Status, reason string) string {
	text := strings.ReplaceAll(string(status), "_", " ")
	switch reason = cleanLine(reason); {
	case reason == "" || reason == text:
		return cleanLine(text)
	case strings.HasPrefix(reason, text):
		return reason
	default:
		return cleanLine(text) + ": " + reason
	}
}

// describeFailure returns how a task ended, after a note when the failure may
// not be due to the change.
func describeFailure(t TaskResult) string {
	if outcome(t) == unavailable {
		return "nothing against this change, " + describeResult(t)
	}
	switch t.Class {
	case plan.ClassBaseline:
		return "already broken on base, " + describeResult(t)
	case plan.ClassEnvironment:
		return "not because of this change, " + describeResult(t)
	case plan.ClassTransient:
		return "perhaps not because of this change, " + describeResult(t)
	}
	return describeResult(t)
}

// brokenSince returns the time since which a task is known to fail on base, as
// " since TIME", or "" when it is not known.
func brokenSince(b *plan.Baseline) string {
	if b == nil || b.Since == nil {
		return ""
	}
	return " since " + formatMinute(*b.Since)
}

// attemptRemarks returns remarks on the attempts of a task: which attempt passed
// if it was not the first, and whether the task is known to be flaky.
func attemptRemarks(t TaskResult) []string {
	var out []string
	if len(t.Before) > 0 && t.OK() {
		out = append(out, fmt.Sprintf("in attempt %d", t.Attempts))
	}
	if f := t.Flaky; f != nil {
		day := func(t time.Time) string { return t.UTC().Format(time.DateOnly) }
		out = append(out, fmt.Sprintf("flaky since %s (%d of %s, last %s)", day(f.FirstSeen), f.Failures,
			phrase.Count(f.Runs, "attempt"), day(f.LastSeen)))
	}
	return out
}

// maxLeftOut bounds how many parts of a log are listed that were not compared.
const maxLeftOut = 12

// describeComparison describes how a failure was compared with base: the further runs,
// and what was compared and left out of the logs.
func describeComparison(b *plan.Baseline) []string {
	var out []string
	if len(b.MoreLogs) > 0 {
		out = append(out, "compared with further runs, logs "+cleanLine(strings.Join(b.MoreLogs, ", ")))
	}
	if len(b.LeftOut) == 0 {
		return out
	}
	left := b.LeftOut[:min(len(b.LeftOut), maxLeftOut)]
	text := fmt.Sprintf("%s compared; left out: %s", phrase.Count(b.Lines, "line"), cleanLine(strings.Join(left, "; ")))
	if more := len(b.LeftOut) - len(left); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return append(out, text)
}

// OtherRuns describes the other runs of the same task, one line each: earlier
// attempts, the run on base, and whether earlier pipelines found it flaky.
func (t TaskResult) OtherRuns() []string {
	var out []string
	for i, a := range t.Before {
		text := fmt.Sprintf("attempt %d %s", i+1, describeAttempt(a.Status, a.Reason))
		if a.Log != "" {
			text += ", log " + cleanLine(a.Log)
		}
		out = append(out, text)
	}
	if b := t.Baseline; b != nil {
		text := cleanLine(b.Finding)
		if b.Log != "" {
			text += ", log " + cleanLine(b.Log)
		}
		out = append(out, text)
		out = append(out, describeComparison(b)...)
	}
	if !t.OK() {
		out = append(out, attemptRemarks(t)...)
	}
	return out
}

// describeEffort returns the class of a failure, the duration and the number of
// attempts, as far as they are known.
func describeEffort(t TaskResult) []string {
	var parts []string
	if t.Class != "" {
		parts = append(parts, "class "+cleanLine(string(t.Class)))
	}
	if t.Attempts > 0 {
		parts = append(parts, formatSeconds(t.Seconds))
	}
	if t.Attempts > 1 {
		parts = append(parts, phrase.Count(t.Attempts, "attempt"))
	}
	return parts
}

// maxLastLine bounds the last line of a task in an overview, in runes.
const maxLastLine = 100

// passedLastLine returns the last line of a task that passed, "" for any other
// task. Most integrations write there what they would change.
func passedLastLine(t TaskResult) string {
	if !t.OK() {
		return ""
	}
	return lastLine(t)
}

// lastLine returns the last line that a task wrote.
func lastLine(t TaskResult) string {
	lines := strings.Split(strings.TrimSpace(cleanBlock(t.Tail)), "\n")
	last := []rune(cleanLine(lines[len(lines)-1]))
	if len(last) > maxLastLine {
		return string(last[:maxLastLine]) + "…"
	}
	return string(last)
}

// An Outage is a target that was considered unavailable, with the tasks that
// were not run for this reason.
type Outage struct {
	Target string       // untrusted: it may contain the name of a shard
	Tasks  []TaskResult // in plan order
}

// Outages returns the targets that were unavailable, in the order in which the
// plan first names a task of each.
func (rep *Report) Outages() []Outage {
	var out []Outage
	at := map[string]int{}
	for _, t := range rep.uncheckedTasks() {
		i, known := at[t.Unavailable]
		if !known {
			i = len(out)
			at[t.Unavailable] = i
			out = append(out, Outage{Target: t.Unavailable})
		}
		out[i].Tasks = append(out[i].Tasks, t)
	}
	return out
}

// uncheckedTasks returns the tasks that were not run because their target was
// unavailable.
func (rep *Report) uncheckedTasks() []TaskResult {
	return slices.DeleteFunc(slices.Clone(rep.Results), func(t TaskResult) bool { return outcome(t) != unavailable })
}

// The title and the explanation of the unchecked tasks, the same in every format.
const (
	uncheckedTitle = "Not checked: target unavailable"
	uncheckedNote  = "Other tasks failed there again and again, so these were not run. It says nothing against the " +
		"change; run them when the target is back."
)

// maxOutageTasks bounds how many tasks of an outage are named.
const maxOutageTasks = 20

// listTasks returns the names of the tasks of an outage, each escaped by escape.
func (o Outage) listTasks(escape func(string) string) string {
	var out []string
	for _, t := range o.Tasks[:min(len(o.Tasks), maxOutageTasks)] {
		out = append(out, escape(t.Task))
	}
	text := strings.Join(out, ", ")
	if more := len(o.Tasks) - maxOutageTasks; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// writeUnchecked writes the unavailable targets with their tasks.
func (t *text) writeUnchecked(rep *Report) {
	outages := rep.Outages()
	if len(outages) == 0 {
		return
	}
	t.printHeading("%s (%d)", uncheckedTitle, rep.Counts.Unavailable)
	t.printLine("  %s", uncheckedNote)
	for _, o := range outages {
		t.printLine("  %s: %s", t.style.paint(yellow, cleanLine(o.Target)), o.listTasks(cleanLine))
	}
}

// writeUnchecked writes the unavailable targets with their tasks.
func (m *markdown) writeUnchecked(rep *Report) {
	outages := rep.Outages()
	if len(outages) == 0 {
		return
	}
	m.printLine("\n#### %s (%d)\n", uncheckedTitle, rep.Counts.Unavailable)
	m.printLine("%s\n", uncheckedNote)
	for _, o := range outages {
		m.printLine("- %s: %s", codeSpan(o.Target), o.listTasks(codeSpan))
	}
}

// headline returns the verdict and the effects in one line.
func headline(rep *Report) string {
	return outcomeHeadline(rep) + effectsHeadline(rep, plainly)
}

// effectsHeadline returns the part of a headline that counts the effects. Deletions go
// through emphasize. It is "" if nobody looked for effects.
func effectsHeadline(rep *Report, emphasize func(string) string) string {
	if text := rep.Effects.SummaryWith(emphasize); text != "" {
		return "; " + text
	}
	return ""
}

// outcomeHeadline returns the verdict in one sentence.
func outcomeHeadline(rep *Report) string {
	c := rep.Counts
	broken := ""
	if c.Baseline > 0 {
		broken = fmt.Sprintf(", %d already broken on base", c.Baseline)
	}
	switch blocking := c.blocking(); {
	case rep.Verdict == plan.VerdictNotChecked:
		return cleanLine(rep.NotChecked)
	case blocking > 0:
		return fmt.Sprintf("%d of %s did not pass (%s)%s", blocking, phrase.Count(c.Tasks, "task"), failureBreakdown(c),
			broken)
	case rep.Verdict == plan.VerdictFailed:
		return "the results do not fit the plan, see the warnings"
	case c.Tasks == 0:
		return "nothing to run"
	case c.Baseline > 0 && c.Passed == 0 && c.Reused > 0:
		return fmt.Sprintf("%d of %s passed%s; %s passed before with the same inputs", c.Passed,
			phrase.Count(c.Tasks, "task"), broken, phrase.Count(c.Reused, "task"))
	case c.Baseline > 0 && c.Passed == 0:
		return fmt.Sprintf("%d of %s passed%s: not checked", c.Passed, phrase.Count(c.Tasks, "task"), broken)
	case c.Baseline > 0:
		return fmt.Sprintf("%d of %s passed%s", c.Passed, phrase.Count(c.Tasks, "task"), broken)
	}
	return phrase.Count(c.Tasks, "task") + " passed"
}

// verdictLabel returns a verdict as words: "not checked" for not_checked.
func verdictLabel(v plan.Verdict) string { return strings.ReplaceAll(string(v), "_", " ") }

// blocking returns the number of tasks that make the check fail.
func (c Counts) blocking() int { return c.Tasks - c.Passed - c.Baseline }

// failureBreakdown returns how many tasks failed, timed out and so on, such as
// "2 failed, 1 not run".
func failureBreakdown(c Counts) string {
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

// planHeadline returns in one sentence how many tasks a plan has to run.
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
		return fmt.Sprintf("%s to run, %d of them cannot be started", phrase.Count(len(p.Tasks), "task"), blocked)
	}
	return phrase.Count(len(p.Tasks), "task") + " to run"
}

// selectionSummary returns how many integrations are checked and how many are
// skipped.
func selectionSummary(c Counts) string {
	text := fmt.Sprintf("%d of %s to check", c.Run+c.Shards, phrase.Count(c.Integrations, "integration"))
	if c.Shards > 0 {
		text += fmt.Sprintf(" (%d on some shards only)", c.Shards)
	}
	text = fmt.Sprintf("%s, %d skipped", text, c.Skip)
	if c.Believed > 0 {
		text += fmt.Sprintf(" (%d only believed)", c.Believed)
	}
	if c.Reused > 0 {
		text += fmt.Sprintf("; %s passed before with the same inputs", phrase.Count(c.Reused, "task"))
	}
	return text
}

// changesSummary returns how many files, schemas and types changed.
func changesSummary(c plan.Changes) string {
	kinds := map[plan.Kind]int{}
	for _, d := range c.Datafiles {
		kinds[d.Kind]++
	}
	text := phrase.Count(len(c.Datafiles), "datafile")
	var parts []string
	for _, kind := range []plan.Kind{plan.Added, plan.Removed, plan.Modified, plan.Metadata} {
		if kinds[kind] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", kinds[kind], kind))
		}
	}
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	return fmt.Sprintf("%s, %s, %s, %s", text, phrase.Count(len(c.Resources), "resource"),
		phrase.Count(len(c.Schemas), "schema"), phrase.Count(len(c.GraphQL), "GraphQL type"))
}
