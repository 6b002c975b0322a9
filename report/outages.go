package report

import (
	"fmt"
	"slices"
	"strings"
)

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
