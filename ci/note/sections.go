package note

import (
	"fmt"
	"slices"
	"strings"

	md "github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// A section is one list of tasks that did not pass.
type section struct {
	title, intro string
	isFolded     bool // all of it
	tasks        int  // number of tasks in the list
	entries      []entry
	others       []string // table rows of the tasks that have no entry of their own
}

// An entry shows one task. It stands for all tasks that failed with the same cause.
type entry struct {
	head string
	why  []string
	// findings are what its task reports, one line each.
	findings []string
	tail     []string // the last lines of the output
}

// The bounds of what is shown of failures, even if there is room for more.
const (
	maxEntries        = 10      // entries of one section
	maxTail           = 15      // last lines of one task
	maxUnplannedLines = 50      // lines of the planner, when there is no plan
	maxWidth          = 300     // characters of a line
	maxOutput         = 8 << 10 // bytes of an output that are looked at
	openEntries       = 3       // entries with open details; those of the others are folded
)

// newSections returns the lists of tasks that did not pass, the most important
// list first.
func (n Note) newSections(g taskGroups) []section {
	newTitle := "Failures"
	if g.compared {
		newTitle = "New failures"
	}
	var out []section
	for _, list := range []struct {
		title, intro string
		tasks        []report.TaskResult
	}{
		{newTitle, "", g.newFailures},
		{"Still failing", "", g.stillFailing},
		{"No answer", "These were canceled or did not run, so nobody knows.", g.unanswered},
		{outageTitle(g.unchecked), "Other tasks failed there again and again, so these were not run. That says nothing " +
			"against this change.", g.unchecked},
		{"Already broken on base", "They fail the same way without this change, so they do not block it.", g.baseline},
	} {
		if len(list.tasks) > 0 {
			s := n.newSection(list.title, list.intro, list.tasks)
			s.isFolded = len(g.baseline) > 0 && &list.tasks[0] == &g.baseline[0]
			out = append(out, s)
		}
	}
	return out
}

// outageTitle returns the title of a list of tasks whose targets were unavailable.
func outageTitle(tasks []report.TaskResult) string {
	for _, t := range tasks {
		if t.Unavailable != tasks[0].Unavailable {
			return "Not checked: targets unavailable"
		}
	}
	if len(tasks) == 0 {
		return ""
	}
	return "Not checked: target " + showName(tasks[0].Unavailable) + " unavailable"
}

// newSection returns a list of tasks, grouped by the cause of their failure. Tasks
// that may pass when tried again come last.
func (n Note) newSection(title, intro string, tasks []report.TaskResult) section {
	s := section{title: fmt.Sprintf("#### %s (%d)", title, len(tasks)), intro: intro, tasks: len(tasks)}
	tasks = slices.Clone(tasks)
	slices.SortStableFunc(tasks, func(a, b report.TaskResult) int { return retryRank(a) - retryRank(b) })
	for i, group := range report.GroupFailures(tasks) {
		if i < maxEntries {
			s.entries = append(s.entries, n.newEntry(group[0], len(group)-1))
			group = group[1:]
		}
		for _, t := range group {
			d, _ := n.Plan.Decision(t.Integration)
			s.others = append(s.others, tableRow(showName(t.Task), md.Escape(describeResult(t)), md.Escape(lastLine(t.Tail)),
				md.Escape(d.Reason), n.logLink(t)))
		}
	}
	return s
}

// retryRank returns 1 for a task that may pass when tried again, else 0.
func retryRank(t report.TaskResult) int {
	if t.Class == plan.ClassTransient {
		return 1
	}
	return 0
}

// newEntry returns the entry of a task. Alike is the number of further tasks with
// the same cause.
func (n Note) newEntry(t report.TaskResult, alike int) entry {
	e := entry{head: "**" + showName(t.Task) + "**"}
	if alike > 0 {
		e.head += fmt.Sprintf(" and %d more", alike)
	}
	e.head += " " + md.Escape(describeResult(t))
	var parts []string
	switch ran := t.Status == plan.Failed || t.Status == plan.TimedOut; {
	case ran && t.Class == plan.ClassConfig:
		parts = append(parts, "the data or the settings are wrong")
	case ran && t.Class == plan.ClassTransient:
		parts = append(parts, "worth another try")
	}
	if t.Attempts > 0 {
		parts = append(parts, formatSeconds(t.Seconds))
	}
	if t.Attempts > 1 {
		parts = append(parts, phrase.Count(t.Attempts, "attempt"))
	}
	if len(parts) > 0 {
		e.head += " (" + strings.Join(parts, ", ") + ")"
	}
	if log := n.logLink(t); log != "" {
		e.head += " · " + log
	}
	d, _ := n.Plan.Decision(t.Integration)
	if d.Reason != "" {
		e.why = append(e.why, "- checked because "+md.Escape(d.Reason))
	}
	if places := n.listPlaces(d); places != "" {
		e.why = append(e.why, "- changed: "+places)
	}
	for _, other := range t.OtherRuns() {
		e.why = append(e.why, "- "+md.Escape(other))
	}
	e.findings = findingLines(t, "")
	e.tail = lastLines(t.Tail, maxTail)
	return e
}

// logLink returns a link to the log of a task, or the path of the log if there is
// no link. It returns "" for a task that never started.
func (n Note) logLink(t report.TaskResult) string {
	if n.Links.Log != nil && (t.Attempts > 0 || t.Log != "") {
		if to := newLink("log", n.Links.Log(t.Task)); to != "" {
			return to
		}
	}
	return md.Code(t.Log)
}
