package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/queue"
)

// A line is a random line of changes. Each writes places, and tasks read places. A task fails when certain changes that
// it reads meet.
type line struct {
	r       *rand.Rand
	changes []change
	reads   map[string][]string // of each task
	red     map[string][][2]int // pairs of changes, by the task that they make fail
	ran     map[string]queue.RunState
	order   []int // in which they stand
}

type change struct{ writes []string }

func newLine(seed, n uint64) *line {
	r := rand.New(rand.NewPCG(seed, n))
	l := &line{r: r, reads: map[string][]string{}, red: map[string][][2]int{}, ran: map[string]queue.RunState{}}
	pick := func(n int) (out []string) {
		for range n {
			out = append(out, string(rune('a'+r.IntN(10))))
		}
		return out
	}
	for i := range 1 + r.IntN(4) {
		l.reads[fmt.Sprintf("t%d", i)] = pick(1 + r.IntN(3))
	}
	for range 2 + r.IntN(6) {
		l.changes = append(l.changes, change{pick(1 + r.IntN(2))})
	}
	for range r.IntN(4) {
		a, b, task := r.IntN(len(l.changes)), r.IntN(len(l.changes)), fmt.Sprintf("t%d", r.IntN(len(l.reads)))
		if meet(l.changes[a].writes, l.reads[task]) && meet(l.changes[b].writes, l.reads[task]) {
			l.red[task] = append(l.red[task], [2]int{a, b})
		}
	}
	l.order = r.Perm(len(l.changes))
	return l
}

func meet(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// fails reports by plain means whether a task fails with some changes.
func (l *line) fails(task string, with []int) bool {
	return slices.ContainsFunc(l.red[task], func(pair [2]int) bool {
		return slices.Contains(with, pair[0]) && slices.Contains(with, pair[1])
	})
}

// isTrue says by plain means whether changes can be merged in an order: none writes what one ahead of it wrote, and
// each task that reads what it writes passes with all that is there then.
func (l *line) isTrue(order []int) error {
	for i, id := range order {
		for _, earlier := range order[:i] {
			if meet(l.changes[earlier].writes, l.changes[id].writes) {
				return fmt.Errorf("!%d and !%d write the same", id+1, earlier+1)
			}
		}
		for task, reads := range l.reads {
			if meet(reads, l.changes[id].writes) && l.fails(task, order[:i+1]) {
				return fmt.Errorf("%s fails when !%d is merged after %v", task, id+1, order[:i])
			}
		}
	}
	return nil
}

// on reads a base: the changes that it has.
func on(base string) (out []int) {
	for _, f := range strings.Fields(base)[1:] {
		var id int
		_, _ = fmt.Sscan(f, &id) // the law wrote it
		out = append(out, id)
	}
	return out
}

// look proves a change on a base. A result holds while nothing that its task reads is written by others.
func (l *line) look(base string, r queue.Request) queue.Proof {
	id, have := r.Number-1, on(base)
	p := queue.Proof{Pair: queue.Pair{Head: r.Head, Base: base}, Tree: fmt.Sprint(base, " ", id), IsValidated: true,
		IsPlanned: true}
	for _, other := range have {
		if meet(l.changes[other].writes, l.changes[id].writes) {
			p.Conflicts = append(p.Conflicts, fmt.Sprintf("!%d", other+1))
		}
	}
	for task, reads := range l.reads {
		if !meet(reads, l.changes[id].writes) {
			continue
		}
		t := queue.PlannedTask{Name: task, Inputs: fmt.Sprint(task, id)}
		for _, other := range have {
			if meet(l.changes[other].writes, reads) {
				t.Inputs += fmt.Sprintf(" %d", other)
			}
		}
		if t.Inputs == fmt.Sprint(task, id) {
			t.Result = &queue.Result{HasPassed: true, Attempt: 1, Lasts: 1, IsTrusted: true, Command: queue.Same,
				Inputs: queue.Same, Image: queue.Same}
		}
		t.Run = l.ran[t.Inputs]
		p.Tasks = append(p.Tasks, t)
	}
	return p
}

// places returns the line. A change whose own pipeline is red says so.
func (l *line) places() (out []queue.Place) {
	for _, id := range l.order {
		r := queue.Request{Number: id + 1, Head: fmt.Sprintf("h%d", id)}
		for task, reads := range l.reads {
			if meet(reads, l.changes[id].writes) && l.fails(task, []int{id}) {
				r.Failed = append(r.Failed, task)
			}
		}
		out = append(out, queue.Place{Request: r})
	}
	return out
}

// run runs some of the tasks of a delta.
func (l *line) run(s queue.Start) {
	with := append(on(s.Pair.Base), s.Number-1)
	for _, t := range l.look(s.Pair.Base, queue.Request{Number: s.Number, Head: s.Pair.Head}).Tasks {
		if slices.Contains(s.Tasks, t.Name) {
			l.ran[t.Inputs] = queue.RunPassed
			if l.fails(t.Name, with) {
				l.ran[t.Inputs] = queue.RunFailed
			}
		}
	}
}

// hold merges a line with a policy at random, in which a walk merges a part of what it accepted, and some runs end
// before others. The order of all merges must be true, and each walk must account for each change once.
func (l *line) hold() error {
	policy := queue.Policy{Depth: l.r.IntN(4), Overtake: l.r.IntN(2) == 0}
	base := "base"
	for range 200 {
		o := queue.Walk(base, l.places(), l.look, policy)
		if len(o.Standings) != len(l.order) {
			return fmt.Errorf("%d of %d changes stand somewhere", len(o.Standings), len(l.order))
		}
		for _, s := range o.Standings {
			if s.State.MayMerge() != slices.Contains(o.Accepted, s.Place.Number) || s.State == "" || s.Reason.Why == "" {
				return fmt.Errorf("!%d is %q (%s), and accepted are %v", s.Place.Number, s.State, s.Reason, o.Accepted)
			}
		}
		merge := len(o.Accepted)
		if merge > 0 {
			merge = 1 + l.r.IntN(merge)
		}
		for _, n := range o.Accepted[:merge] {
			base = fmt.Sprint(base, " ", n-1)
			l.order = slices.DeleteFunc(l.order, func(id int) bool { return id == n-1 })
		}
		if err := l.isTrue(on(base)); err != nil {
			return fmt.Errorf("depth %d, overtakes %v: %w", policy.Depth, policy.Overtake, err)
		}
		if merge == 0 && len(o.Starts) == 0 {
			return nil
		}
		for i, s := range o.Starts {
			if i == 0 || l.r.IntN(2) == 0 {
				l.run(s)
			}
		}
	}
	return fmt.Errorf("it does not end")
}
