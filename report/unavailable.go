package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

// unavailable is how a task looks that was not run since its target had failed
// others: nobody checked it. It is not green, and says nothing against the change.
const unavailable plan.Status = "unavailable"

// An Outage is a target that was taken for unavailable.
type Outage struct {
	Target string // untrusted: it may hold the name of a shard
	Tasks  []Task // that were not run for it, in plan order
}

// Outages returns the targets that were unavailable, sorted by their first task.
func (rep *Report) Outages() []Outage {
	var out []Outage
	at := map[string]int{}
	for _, t := range rep.unchecked() {
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

// unchecked returns the tasks that were not run since their target was
// unavailable.
func (rep *Report) unchecked() []Task {
	return slices.DeleteFunc(slices.Clone(rep.Results), func(t Task) bool { return look(t) != unavailable })
}

// The words for it, the same in every form of a report.
const (
	uncheckedTitle = "Not checked: target unavailable"
	uncheckedNote  = "Other tasks failed there again and again, so these were not run. It says nothing against the change; run them when the target is back."
)

// maxOut bounds how many tasks of an outage are named.
const maxOut = 20

// names lists the tasks of an outage, each made harmless by show.
func (o Outage) names(show func(string) string) string {
	var out []string
	for _, t := range o.Tasks[:min(len(o.Tasks), maxOut)] {
		out = append(out, show(t.Task))
	}
	text := strings.Join(out, ", ")
	if more := len(o.Tasks) - maxOut; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func (t *text) unchecked(rep *Report) {
	outages := rep.Outages()
	if len(outages) == 0 {
		return
	}
	t.heading("%s (%d)", uncheckedTitle, rep.Counts.Unavailable)
	t.line("  %s", uncheckedNote)
	for _, o := range outages {
		t.line("  %s: %s", t.style.paint(yellow, line(o.Target)), o.names(line))
	}
}

func (m *markdown) unchecked(rep *Report) {
	outages := rep.Outages()
	if len(outages) == 0 {
		return
	}
	m.line("\n#### %s (%d)\n", uncheckedTitle, rep.Counts.Unavailable)
	m.line("%s\n", uncheckedNote)
	for _, o := range outages {
		m.line("- %s: %s", code(o.Target), o.names(code))
	}
}
