package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/app-sre/prcheck/queue"
)

// epoch is the time of minute 0.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func timeOf(minute float64) time.Time { return epoch.Add(time.Duration(minute * float64(time.Minute))) }

// A ran is how a run with certain inputs stands.
type ran struct {
	state  queue.RunState
	ends   float64
	fails  bool
	cost   float64
	isUsed bool
}

// A proving is the stream merged by package queue.
type proving struct {
	*stream
	lasts   float64 // minutes that a result counts
	now     float64
	free    float64 // when the loop can merge again
	merged  []*request
	waiting []*request
	runs    map[string]*ran // by inputs
	tries   map[int]int
	refused map[int]bool
	begun   map[int]time.Time
	out     account
}

// prove merges a stream with package queue.
func prove(s *stream, lasts float64) *account {
	w := &proving{stream: s, lasts: lasts, runs: map[string]*ran{}, tries: map[int]int{}, refused: map[int]bool{},
		begun: map[int]time.Time{}}
	next := 0
	for w.now = 0; next < len(s.requests) || len(w.waiting) > 0; w.now += s.Loop {
		for ; next < len(s.requests) && s.requests[next].at <= w.now; next++ {
			w.waiting = append(w.waiting, s.requests[next])
			w.setOwn(s.requests[next])
		}
		w.endRuns()
		w.loop()
		if w.now > 60*s.Hours*40 {
			break
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.runs)) { // sums of fractions depend on their order
		r := w.runs[name]
		w.out.machine += r.cost
		if r.isUsed {
			continue
		}
		w.out.wasted += r.cost
		for _, id := range strings.Fields(name)[1:] {
			if id, _ := strconv.Atoi(id); w.refused[id] {
				w.out.dropped += r.cost
				break
			}
		}
	}
	return &w.out
}

// setOwn notes how many were merged when the own pipeline of a request ended.
func (w *proving) setOwn(m *request) {
	m.ownMerges = 0
	for i, wait := range w.out.waits {
		if w.merged[i].at+wait <= m.ownAt {
			m.ownMerges++
		}
	}
}

func (w *proving) endRuns() {
	for _, r := range w.runs {
		if r.state == queue.Started && r.ends <= w.now {
			r.state = queue.RunPassed
			if r.fails {
				r.state = queue.RunFailed
			}
		}
	}
}

// baseOf names a base: how many are merged, and which are on top.
func baseOf(merged int, on []int) string {
	return strings.TrimSuffix(fmt.Sprintf("%d %s", merged, strings.Trim(fmt.Sprint(on), "[]")), " ")
}

// since returns what a base has beside what the own pipeline of a request saw.
func (w *proving) since(m *request, base string) []*request {
	fields := strings.Fields(base)
	n, _ := strconv.Atoi(fields[0])
	out := slices.Clone(w.merged[min(m.ownMerges, n):n])
	for _, f := range fields[1:] {
		id, _ := strconv.Atoi(f)
		out = append(out, w.requests[id])
	}
	return out
}

// inputs names what a task sees: what differs from its own pipeline.
func (w *proving) inputs(m *request, task int, since []*request) (name string, with []*request) {
	name = fmt.Sprintf("%d/%d", m.id, task)
	for _, b := range since {
		if w.differs(m, task, b) {
			name += fmt.Sprintf(" %d", b.id)
			with = append(with, b)
		}
	}
	return name, with
}

// look proves a request on a base.
func (w *proving) look(base string, r queue.Request) queue.Proof {
	m := w.requests[r.Number-1]
	p := queue.Proof{Pair: queue.Pair{Head: r.Head, Base: base}, Tree: base + " " + strconv.Itoa(m.id), IsValidated: true,
		IsPlanned: true}
	since := w.since(m, base)
	for task := range m.tasks {
		name, with := w.inputs(m, task, since)
		t := queue.PlannedTask{Name: strconv.Itoa(task), Inputs: name, Chance: 0.99, Cost: w.Machine / float64(m.tasks)}
		result := queue.Result{HasPassed: true, Attempt: 1, Lasts: time.Duration(w.lasts) * time.Minute, IsTrusted: true,
			Command: queue.Same, Inputs: queue.Same, Image: queue.Same}
		switch run := w.runs[name]; {
		case run != nil && run.state == queue.RunPassed:
			result.Age = timeOf(w.now).Sub(timeOf(run.ends))
			t.Result = &result
		case run != nil:
			t.Run = run.state
		case len(with) == 0:
			result.Age = timeOf(w.now).Sub(timeOf(m.ownAt))
			t.Result = &result
		}
		for _, b := range with {
			t.With = append(t.With, queue.Influence{Request: strconv.Itoa(b.id)})
		}
		p.Tasks = append(p.Tasks, t)
	}
	return p
}

// line returns the requests that wait, in order.
func (w *proving) line() []queue.Place {
	var all []queue.Request
	for _, m := range w.waiting {
		label := queue.Classes[m.class]
		all = append(all, queue.Request{Number: m.id + 1, Head: strconv.Itoa(m.id), Labels: []string{label},
			Begun:  w.begun[m.id],
			Events: []queue.LabelEvent{{Label: label, By: "bot", At: timeOf(m.at)}}})
	}
	return queue.Line(all, nil, timeOf(w.now))
}

// loop walks once, starts what can run, and merges what was accepted.
func (w *proving) loop() {
	o := queue.Walk(baseOf(len(w.merged), nil), w.line(), w.look,
		queue.Policy{Depth: w.Depth, Chance: w.GuessChance, Budget: w.GuessBudget, Overtake: true})
	for _, start := range o.Starts {
		w.start(start)
	}
	accepted := map[int]bool{}
	for _, n := range o.Accepted {
		if w.free > w.now+w.Loop {
			break // the next loop looks again
		}
		w.free = max(w.free, w.now) + w.Merge
		m := w.requests[n-1]
		w.use(m)
		w.out.merge(m, w.free, w.Hours*60)
		if b := w.brokenUnseen(m); b != nil {
			w.out.breaks++
		}
		w.merged = append(w.merged, m)
		accepted[m.id] = true
	}
	for _, s := range o.Standings {
		if s.State == queue.Red {
			m := w.requests[s.Place.Number-1]
			if !w.retry(m) {
				w.use(m) // what ran said that it is refused
				w.out.refused++
				w.refused[m.id] = true
				accepted[m.id] = true
			}
		}
	}
	w.waiting = slices.DeleteFunc(w.waiting, func(m *request) bool { return accepted[m.id] })
}

// use notes which runs a merge rests on.
func (w *proving) use(m *request) {
	since := w.since(m, baseOf(len(w.merged), nil))
	for task := range m.tasks {
		name, _ := w.inputs(m, task, since)
		if r := w.runs[name]; r != nil {
			r.isUsed = true
		}
	}
}

// brokenUnseen returns what a request breaks with, at its merge; nil is nothing.
func (w *proving) brokenUnseen(m *request) *request {
	return w.broken(m, w.since(m, baseOf(len(w.merged), nil)))
}

// start starts the tasks of a delta that do not run yet. All of them begin together.
func (w *proving) start(s queue.Start) {
	m := w.requests[s.Number-1]
	since := w.since(m, s.Pair.Base)
	for _, name := range s.Tasks {
		task, _ := strconv.Atoi(name)
		inputs, with := w.inputs(m, task, since)
		old := w.runs[inputs]
		if old != nil && old.state == queue.Started {
			continue
		}
		w.tries[m.id]++
		if w.begun[m.id].IsZero() {
			w.begun[m.id] = timeOf(w.now)
		}
		took := w.Startup + w.draw(howLong, m.id, task)*(m.pipeline-w.Startup)
		cost := w.Machine / float64(m.tasks)
		if old != nil { // it grew too old
			cost += old.cost
		}
		isFlake := w.draw(isFlakyTask, m.id, task, w.tries[m.id]) < w.Flakes/float64(m.tasks)
		isBroken := slices.ContainsFunc(with, func(b *request) bool { return w.breaks(m, b) == task })
		w.runs[inputs] = &ran{state: queue.Started, ends: w.now + took, fails: isFlake || isBroken, cost: cost,
			isUsed: old != nil && old.isUsed}
	}
}

// retry forgets the failed runs of a request that failed for no reason, as its author would by a second pipeline. It
// reports whether there were only such.
func (w *proving) retry(m *request) bool {
	since := w.since(m, baseOf(len(w.merged), nil))
	if w.broken(m, since) != nil {
		return false
	}
	for _, name := range slices.Sorted(maps.Keys(w.runs)) {
		r := w.runs[name]
		if strings.HasPrefix(name, strconv.Itoa(m.id)+"/") && r.state == queue.RunFailed {
			w.out.machine += r.cost
			delete(w.runs, name)
		}
	}
	return true
}
