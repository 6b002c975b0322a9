package queue_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/queue"
)

// A batch is the world of a case: places that changes write and tasks read. A base is the list of changes that it has.
type batch struct {
	changes []batchChange
	red     map[string][][]string // sets of changes, by the task that they make fail
	ran     map[string]queue.RunState
}

func newBatch(t *testing.T, c batchCase) *batch {
	t.Helper()
	w := &batch{changes: c.Input.Queue, red: map[string][][]string{}, ran: map[string]queue.RunState{}}
	for _, r := range c.Input.Red {
		task, _ := r[0].(string)
		var set []string
		for _, id := range r[1].([]any) {
			set = append(set, id.(string))
		}
		w.red[task] = append(w.red[task], set)
	}
	return w
}

func (w *batch) id(number int) string { return w.changes[number-1].ID }

func (w *batch) find(id string) batchChange {
	return w.changes[slices.IndexFunc(w.changes, func(c batchChange) bool { return c.ID == id })]
}

// plan returns the tasks that read what a change writes, sorted.
func (w *batch) plan(c batchChange) []string {
	var out []string
	for _, task := range slices.Sorted(maps.Keys(c.Tasks)) {
		if meet(c.Tasks[task], c.Writes) {
			out = append(out, task)
		}
	}
	return out
}

func meet(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// fails reports whether a task fails with these changes.
func (w *batch) fails(task string, with []string) bool {
	return slices.ContainsFunc(w.red[task], func(set []string) bool {
		return !slices.ContainsFunc(set, func(id string) bool { return !slices.Contains(with, id) })
	})
}

// line returns the changes as a line.
func (w *batch) line() []queue.Place {
	var out []queue.Place
	for i, c := range w.changes {
		r := queue.Request{Number: i + 1, Head: c.ID}
		for _, task := range w.plan(c) {
			if w.fails(task, []string{c.ID}) {
				r.Failed = append(r.Failed, task)
			}
		}
		out = append(out, queue.Place{Request: r})
	}
	return out
}

// look proves a change on a base.
func (w *batch) look(base string, r queue.Request) queue.Proof {
	c, on := w.find(r.Head), strings.Fields(base)[1:]
	p := queue.Proof{Pair: queue.Pair{Head: r.Head, Base: base}, Tree: base + " " + r.Head, IsValidated: true,
		IsPlanned: true}
	for _, id := range on {
		if meet(w.find(id).Writes, c.Writes) {
			p.Conflicts = append(p.Conflicts, id)
			return p
		}
	}
	for _, task := range w.plan(c) {
		of := queue.PlannedTask{Name: task, Inputs: task + " " + r.Head}
		for _, id := range on {
			if meet(w.find(id).Writes, c.Tasks[task]) {
				of.With = append(of.With, queue.Influence{Request: id, Files: w.find(id).Writes})
				of.Inputs += " " + id
			}
		}
		if len(of.With) == 0 {
			of.Result = &queue.Result{HasPassed: true, Attempt: 1, Lasts: 1, IsTrusted: true, Command: queue.Same,
				Inputs: queue.Same, Image: queue.Same}
		}
		of.Run = w.ran[of.Inputs]
		p.Tasks = append(p.Tasks, of)
	}
	return p
}

// run runs a delta.
func (w *batch) run(s queue.Start) {
	p := w.look(s.Pair.Base, queue.Request{Head: s.Pair.Head})
	with := slices.Concat(strings.Fields(s.Pair.Base)[1:], []string{s.Pair.Head})
	for _, t := range p.Tasks {
		if slices.Contains(s.Tasks, t.Name) {
			w.ran[t.Inputs] = queue.RunPassed
			if w.fails(t.Name, with) {
				w.ran[t.Inputs] = queue.RunFailed
			}
		}
	}
}

// merge walks until nothing is left to run.
func (w *batch) merge(t *testing.T) batchOutcome {
	t.Helper()
	out := batchOutcome{dropped: map[string]string{}}
	for _, c := range w.changes {
		out.saved += len(w.plan(c))
	}
	for {
		o := queue.Walk("base", w.line(), w.look, queue.Policy{})
		if len(o.Starts) == 0 {
			for _, n := range o.Accepted {
				out.merged = append(out.merged, w.id(n))
			}
			for _, s := range o.Standings {
				if why := dropped(s); why != "" {
					out.dropped[w.id(s.Place.Number)] = why
				}
			}
			return out
		}
		for _, s := range o.Starts {
			w.run(s)
			out.runs = append(out.runs, fmt.Sprint(s.Pair.Head, s.Tasks))
			out.saved -= len(s.Tasks)
		}
		if len(out.runs) > 1000 {
			t.Fatal("it does not end")
		}
	}
}

// dropped returns why a request is out, as the cases write it.
func dropped(s queue.Standing) string {
	names := strings.Join(s.Reason.Names, ", ")
	switch {
	case s.State == queue.Conflict:
		return "conflict with " + s.Reason.Names[0]
	case s.State == queue.Red && s.Reason.Why == queue.OwnFailed:
		return "own: " + names
	case s.State == queue.Red:
		return "delta: " + names
	}
	return ""
}
