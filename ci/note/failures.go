package note

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	md "github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// A kind tells tasks apart by what their results ask of the author.
type kind int

const (
	passed    kind = iota
	failure        // look at it
	unjudged       // nobody knows
	unchecked      // its target was unavailable
	baseline       // it was broken before
)

// kindOf returns the kind of a result.
func kindOf(r plan.Result) kind {
	switch {
	case r.OK():
		return passed
	case r.OnBase():
		return baseline
	case r.Status == plan.NotRun && r.Unavailable != "":
		return unchecked
	case r.Status == plan.Canceled || r.Status == plan.NotRun:
		return unjudged
	}
	return failure
}

// sorted are the tasks that are worth a word, in the order of the plan.
type sorted struct {
	compared       bool // with the run before
	fresh, still   []report.Task
	unjudged       []report.Task
	unchecked      []report.Task
	baseline       []report.Task
	fixed          []report.Task
	vanished       int // failed before and are not in the plan now
	transient      int // of fresh and still: worth another try
	freshTransient int
}

// sortOut sorts the tasks by what they ask of the author.
func sortOut(rep *report.Report, before *run) sorted {
	failedBefore, compared := before.failed()
	s := sorted{compared: compared, vanished: len(failedBefore)}
	for _, t := range rep.Results {
		was := failedBefore[hash(t.Task)]
		if was {
			s.vanished--
		}
		switch kindOf(t.Result) {
		case passed:
			if was {
				s.fixed = append(s.fixed, t)
			}
		case unjudged:
			s.unjudged = append(s.unjudged, t)
		case unchecked:
			s.unchecked = append(s.unchecked, t)
		case baseline:
			s.baseline = append(s.baseline, t)
		case failure:
			s.fail(t, was)
		}
	}
	return s
}

// fail takes one failure.
func (s *sorted) fail(t report.Task, was bool) {
	if was {
		s.still = append(s.still, t)
	} else {
		s.fresh = append(s.fresh, t)
	}
	if t.Class == plan.ClassTransient {
		s.transient++
		if !was {
			s.freshTransient++
		}
	}
}

// A section is one list of tasks that did not pass.
type section struct {
	title, intro string
	tasks        int
	entries      []entry
	others       []string // rows: tasks like those of an entry, and tasks beyond the last entry
}

// An entry shows one task, and speaks for those that said the same.
type entry struct {
	head string
	why  []string
	tail []string // lines
}

// The bounds of what is shown of failures even if there is room for more.
const (
	maxEntries = 10      // in one section
	maxTail    = 15      // lines
	maxSaid    = 50      // lines, when there is no plan
	maxWidth   = 300     // of a line, in characters
	maxOutput  = 8 << 10 // that is looked at, in bytes
	openTails  = 3       // of the first entries; the others are folded
)

// sections returns the lists of tasks that did not pass, the most important
// first.
func (n Note) sections(s sorted) []section {
	fresh := "Failures"
	if s.compared {
		fresh = "New failures"
	}
	var out []section
	for _, list := range []struct {
		title, intro string
		tasks        []report.Task
	}{
		{fresh, "", s.fresh},
		{"Still failing", "", s.still},
		{"No answer", "These were canceled or did not run, so nobody knows.", s.unjudged},
		{outage(s.unchecked), "Other tasks failed there again and again, so these were not run. That says nothing against this change.", s.unchecked},
		{"Already broken on base", "They fail the same way without this change, so they do not block it.", s.baseline},
	} {
		if len(list.tasks) > 0 {
			out = append(out, n.section(list.title, list.intro, list.tasks))
		}
	}
	return out
}

// outage is the title for tasks whose targets were unavailable.
func outage(tasks []report.Task) string {
	for _, t := range tasks {
		if t.Unavailable != tasks[0].Unavailable {
			return "Not checked: targets unavailable"
		}
	}
	if len(tasks) == 0 {
		return ""
	}
	return "Not checked: target " + name(tasks[0].Unavailable) + " unavailable"
}

// figures may differ between tasks that say the same.
var figures = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)

// section groups tasks that said the same. Those worth another try come last.
func (n Note) section(title, intro string, tasks []report.Task) section {
	s := section{title: fmt.Sprintf("#### %s (%d)", title, len(tasks)), intro: intro, tasks: len(tasks)}
	tasks = slices.Clone(tasks)
	slices.SortStableFunc(tasks, func(a, b report.Task) int { return rank(a) - rank(b) })
	var causes []string
	groups := map[string][]report.Task{}
	for _, t := range tasks {
		cause := figures.ReplaceAllString(said(t)+"\x00"+string(t.Class)+"\x00"+lastLine(t.Tail), "0")
		if groups[cause] == nil {
			causes = append(causes, cause)
		}
		groups[cause] = append(groups[cause], t)
	}
	for i, cause := range causes {
		group := groups[cause]
		if i < maxEntries {
			s.entries = append(s.entries, n.entry(group[0], len(group)-1))
			group = group[1:]
		}
		for _, t := range group {
			d, _ := n.Plan.Decision(t.Integration)
			s.others = append(s.others, row(name(t.Task), md.Escape(said(t)), md.Escape(lastLine(t.Tail)), md.Escape(d.Reason), n.log(t)))
		}
	}
	return s
}

func rank(t report.Task) int {
	if t.Class == plan.ClassTransient {
		return 1
	}
	return 0
}

// entry shows one task; alike is how many more said the same.
func (n Note) entry(t report.Task, alike int) entry {
	e := entry{head: "**" + name(t.Task) + "**"}
	if alike > 0 {
		e.head += fmt.Sprintf(" and %d more", alike)
	}
	e.head += " " + md.Escape(said(t))
	var parts []string
	switch ran := t.Status == plan.Failed || t.Status == plan.TimedOut; {
	case ran && t.Class == plan.ClassConfig:
		parts = append(parts, "the data or the settings are wrong")
	case ran && t.Class == plan.ClassTransient:
		parts = append(parts, "worth another try")
	}
	if t.Attempts > 0 {
		parts = append(parts, seconds(t.Seconds))
	}
	if t.Attempts > 1 {
		parts = append(parts, number(t.Attempts, "attempt"))
	}
	if len(parts) > 0 {
		e.head += " (" + strings.Join(parts, ", ") + ")"
	}
	if log := n.log(t); log != "" {
		e.head += " · " + log
	}
	d, _ := n.Plan.Decision(t.Integration)
	if d.Reason != "" {
		e.why = append(e.why, "- checked because "+md.Escape(d.Reason))
	}
	if places := n.places(d); places != "" {
		e.why = append(e.why, "- changed: "+places)
	}
	for _, other := range t.OtherRuns() {
		e.why = append(e.why, "- "+md.Escape(other))
	}
	e.tail = tail(t.Tail, maxTail)
	return e
}

// log returns a link to the log of a task, or where it lies. A task that never
// started has none.
func (n Note) log(t report.Task) string {
	if n.Links.Log != nil && (t.Attempts > 0 || t.Log != "") {
		if to := link("log", n.Links.Log(t.Task)); to != "" {
			return to
		}
	}
	return md.Code(t.Log)
}
