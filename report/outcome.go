package report

import (
	"fmt"
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
