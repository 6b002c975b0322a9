package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

// Bounds of the page.
const (
	maxFailures = 100     // cards; the others are in the table
	maxOpen     = 10      // cards that show their tail from the start
	maxPassed   = 2 << 20 // bytes of what passed tasks said, together
	maxFailed   = 8 << 20 // bytes of what the others said, together
	maxEvidence = 20      // values of one kind of evidence that plans hold
)

// A row is one integration with its explanation.
type row struct {
	ID, Name, Decision, Class, Rung, Reason string
	Status, StatusClass, Took               string
	Runs, Bad                               bool
	Facts                                   []fact
	Tasks                                   []job
}

// A job is one task as the page shows it.
type job struct {
	ID, Name, Result, Class, Status string
	Started, Waited, Took, Attempts string
	Command, Log, Tail              string
	Bad                             bool
	Cut                             bool // the tail was left out
}

// A failure is one task that did not pass.
type failure struct {
	ID, Name, Result, Details, Log, Tail, Class string
	Open                                        bool // shows its tail from the start
	Integration                                 value
}

// rows returns all integrations: first those that did not pass, then those that
// ran, then the skipped ones.
func rows(page Page, links *index) ([]row, []datum) {
	planned := map[string]plan.Task{}
	for _, t := range page.Plan.Tasks {
		planned[t.ID] = t
	}
	said := map[string]Task{}
	for _, t := range page.Report.Results {
		said[t.Task] = t
	}
	observed := map[string]plan.Observed{}
	for _, o := range page.Report.Observed {
		observed[o.Integration] = o
	}
	decisions := page.Plan.Integrations
	left := map[bool]int{false: maxPassed, true: maxFailed}
	var all []row
	var data []datum
	for i, in := range page.Report.Integrations {
		r := row{
			ID: anchor(in.Name), Name: shown(in.Name), Decision: line(string(in.Decision)), Class: class(in.Decision),
			Rung: line(string(in.Rung)), Reason: line(in.Reason), Runs: in.Decision != plan.Skip,
		}
		d := datum{ID: r.ID, Name: strings.ToLower(r.Name), Decision: r.Class, Rung: slices.Index(plan.Rungs(), in.Rung)}
		if i < len(decisions) {
			r.Facts = links.facts(decisions[i].Evidence)
			d.Words = words(decisions[i].Evidence)
		}
		r.Facts = append(r.Facts, reading(observed[in.Name])...)
		var worst plan.Status
		for _, id := range in.Tasks {
			t := said[id]
			j := newJob(planned[id], t)
			if left[j.Bad] -= len(j.Tail); left[j.Bad] < 0 {
				j.Tail, j.Cut = "", true
			}
			r.Tasks = append(r.Tasks, j)
			worst = worse(worst, look(t))
			d.Seconds += t.Seconds
		}
		if len(r.Tasks) > 0 {
			r.Status, r.StatusClass, r.Took = spaced(worst), class(worst), seconds(d.Seconds)
			r.Bad, d.Status = worst != plan.Passed && worst != onBase, r.StatusClass
		}
		all, data = append(all, r), append(data, d)
	}
	return sorted(all, data)
}

// sorted puts first what matters most, and keeps the order otherwise.
func sorted(all []row, data []datum) ([]row, []datum) {
	var rows []row
	var more []datum
	for _, rank := range []int{0, 1, 2} {
		for i, r := range all {
			if r.rank() == rank {
				rows, more = append(rows, r), append(more, data[i])
			}
		}
	}
	return rows, more
}

func (r row) rank() int {
	switch {
	case r.Bad:
		return 0
	case r.Runs:
		return 1
	}
	return 2
}

// words returns what the filter finds of some evidence.
func words(e plan.Evidence) string {
	parts := slices.Concat(e.Paths, e.Keys, e.Definition)
	for _, q := range e.Queries {
		parts = append(append(parts, q.Name), q.Fields...)
	}
	for i := range parts {
		parts[i] = strings.ToLower(line(parts[i]))
	}
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), "\n")
}

// worse returns the status that says more about an integration.
func worse(a, b plan.Status) plan.Status {
	order := []plan.Status{"", plan.Passed, onBase, unavailable, plan.NotRun, plan.Canceled, plan.TimedOut, plan.Failed}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}

func newJob(t plan.Task, r Task) job {
	j := job{
		ID: t.ID, Name: shown(t.ID), Result: result(r), Status: spaced(look(r)), Class: class(look(r)), Bad: r.Blocks(),
		Log: line(r.Log), Tail: block(r.Tail), Attempts: fmt.Sprint(r.Attempts),
	}
	if r.Attempts > 0 {
		j.Took = seconds(r.Seconds)
	}
	if len(r.Spans) > 0 {
		j.Started, j.Waited = "+"+seconds(r.Spans[0].Started), seconds(r.Waited)
	}
	switch {
	case t.Blocked != "":
		j.Command = "not started: " + line(t.Blocked)
	case t.Native:
		j.Command = "native, in the runner itself"
	default:
		j.Command = line(command(t.Argv))
	}
	return j
}

// failures returns a card for each of the tasks, which did not pass, and how many
// more there are.
func failures(name string, bad []Task) ([]failure, int) {
	more := max(0, len(bad)-maxFailures)
	var out []failure
	for i, t := range bad[:len(bad)-more] {
		out = append(out, failure{
			ID: fmt.Sprintf("%s-%d", name, i+1), Name: shown(t.Task), Result: result(t), Class: class(look(t)),
			Details: strings.Join(append(details(t), t.Tries()...), ", "), Log: line(t.Log), Tail: block(t.Tail),
			Open: i < maxOpen, Integration: value{Text: shown(t.Integration), Href: "#" + anchor(t.Integration)},
		})
	}
	return out, more
}

// facts returns evidence in words, with links to the changed files.
func (x *index) facts(e plan.Evidence) []fact {
	var out []fact
	add := func(label string, values ...value) {
		if len(values) > 0 {
			out = append(out, fact{label, values, label == "shards"})
		}
	}
	add("definition", x.paths(e.Definition)...)
	add("changed in it", codes(e.Fields)...)
	if e.Allowed > 0 {
		add("may read", value{Text: number(e.Allowed, "schema")})
	}
	add("changed schemas", codes(e.Schemas)...)
	add("changed files", atMost(x.paths(e.Paths))...)
	add("edited rules", codes(e.Edited)...)
	if e.Rule != "" {
		add("path rule", value{Text: line(e.Rule), Code: true})
	}
	for _, q := range e.Queries {
		add("query", append([]value{{Text: line(query(q))}}, atMost(x.fields(q.Fields))...)...)
	}
	var traces []value
	for _, t := range e.Traces {
		traces = append(traces, value{Text: line(remembered(t))})
	}
	add("trace", atMost(traces)...)
	if s := e.State; s != nil && s.Base == s.Head {
		add("desired state", value{Text: "the same on base and head:"}, value{Text: line(s.Base), Code: true})
	} else if s != nil {
		add("state on base", value{Text: line(s.Base), Code: true})
		add("state on head", value{Text: line(s.Head), Code: true})
	}
	add("shards", codes(e.Keys)...)
	var passed []value
	for _, p := range e.Passed {
		passed = append(passed, value{Text: line(earlier(p))})
	}
	add("passed", atMost(passed)...)
	var doubts []value
	for _, d := range e.Doubts {
		doubts = append(doubts, value{Text: line(d)})
	}
	add("in doubt", doubts...)
	return out
}

// reading returns what an integration read while it ran.
func reading(o plan.Observed) []fact {
	var out []fact
	if len(o.Read) > 0 {
		out = append(out, fact{"read while it ran", codes(o.Read), true})
	}
	if len(o.Unread) > 0 && !o.Partial {
		out = append(out, fact{"allowed, not read", codes(o.Unread), true})
	}
	return out
}

// atMost says so when a list may have been cut.
func atMost(values []value) []value {
	if len(values) < maxEvidence {
		return values
	}
	return append(values, value{Text: fmt.Sprintf("(a plan lists at most %d)", maxEvidence)})
}

func codes(texts []string) []value {
	var out []value
	for _, text := range texts {
		out = append(out, value{Text: line(text), Code: true})
	}
	return out
}
