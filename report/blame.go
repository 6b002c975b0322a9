package report

import (
	"fmt"
	"time"

	"github.com/app-sre/prcheck/plan"
)

// onBase is how a task looks that failed as it fails on base: neither passed nor
// failed.
const onBase plan.Status = "broken_on_base"

// look returns how a task ended, as people tell ends apart.
func look(t Task) plan.Status {
	switch {
	case t.OnBase():
		return onBase
	case t.Status == plan.NotRun && t.Unavailable != "":
		return unavailable
	}
	return t.Status
}

// broken returns the tasks that failed as they fail on base.
func (rep *Report) broken() []Task {
	var out []Task
	for _, t := range rep.Results {
		if t.OnBase() {
			out = append(out, t)
		}
	}
	return out
}

// since tells since when a task is known to fail on base.
func since(b *plan.Baseline) string {
	if b == nil || b.Since == nil {
		return ""
	}
	return " since " + moment(*b.Since)
}

// moment shows a time to the minute.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") + " UTC" }

// remarks returns what else is known of how a task ended: which attempt it was,
// and whether it can be relied upon.
func remarks(t Task) []string {
	var out []string
	if len(t.Before) > 0 && t.OK() {
		out = append(out, fmt.Sprintf("in attempt %d", t.Attempts))
	}
	if f := t.Flaky; f != nil {
		day := func(t time.Time) string { return t.UTC().Format(time.DateOnly) }
		out = append(out, fmt.Sprintf("flaky since %s (%d of %s, last %s)", day(f.FirstSeen), f.Failures, number(f.Runs, "attempt"), day(f.LastSeen)))
	}
	return out
}

// Tries returns what the other runs of a task said, which the failure does not
// show: earlier attempts, base, and runs before this one.
func (t Task) Tries() []string {
	var out []string
	for i, a := range t.Before {
		text := fmt.Sprintf("attempt %d %s", i+1, end(a.Status, a.Reason))
		if a.Log != "" {
			text += ", log " + line(a.Log)
		}
		out = append(out, text)
	}
	if b := t.Baseline; b != nil {
		text := line(b.Finding)
		if b.Log != "" {
			text += ", log " + line(b.Log)
		}
		out = append(out, text)
	}
	if !t.OK() {
		out = append(out, remarks(t)...)
	}
	return out
}
