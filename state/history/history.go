package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state"
)

// Lapse is how long a task stays flaky after it was last seen to be, and for how
// long runs count.
const Lapse = 14 * 24 * time.Hour

// unseen is for how long a failure on base may not be seen and still be the same.
const unseen = 24 * time.Hour

// A Store remembers how tasks ended.
type Store struct {
	in      state.Store
	counted map[string]int
}

// NewStore keeps what it remembers in a folder of the state.
func NewStore(in state.Store) Store { return Store{in: in} }

// Counted returns a Store that remembers all but the first attempts of tasks, so
// many by their ids: those were remembered when they were made.
func (s Store) Counted(attempts map[string]int) Store {
	s.counted = attempts
	return s
}

func key(integration string) string { return "blame/" + state.Name(integration) + ".json" }

// Remember adds a run of tasks from its begin until now, with a result for each, and
// fills in what is known of them by then: whether they are flaky, and since when they
// fail on base. Marks holds, by task, the mark of each failure that is the same on base. The error joins what could not be written, one
// for each integration; the results are filled in all the same.
func (s Store) Remember(ctx context.Context, tasks []plan.Task, results []plan.Result, marks map[string]string, begin, now time.Time) error {
	byName := map[string][]int{}
	for i, t := range tasks {
		if i < len(results) && results[i].Attempts > 0 {
			byName[t.Integration] = append(byName[t.Integration], i)
		}
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		known := false
		add := func(doc *document) {
			known = true
			doc.Version, doc.Integration = Version, name
			doc.lapse(now)
			for _, i := range byName[name] {
				doc.add(tasks[i], &results[i], s.counted[tasks[i].ID], marks[tasks[i].ID], begin, now)
			}
			doc.trim()
		}
		warning, err := kind(name, now).Update(ctx, s.in, key(name), add)
		if !known { // it cannot be written; what is known is told all the same
			add(s.read(ctx, name, now))
		}
		if err = errors.Join(warning, err); err != nil {
			errs = append(errs, fmt.Errorf("remembering how %q ended: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// read returns the document of an integration, an empty one when there is none that
// can be used.
func (s Store) read(ctx context.Context, integration string, now time.Time) *document {
	doc, err := kind(integration, now).Read(ctx, s.in, key(integration))
	if err != nil {
		return &document{}
	}
	doc.lapse(now)
	return doc
}

// add takes one result, of which so many attempts are counted, and fills in what is
// known of its task.
func (d *document) add(t plan.Task, r *plan.Result, counted int, mark string, begin, now time.Time) {
	at := now.UTC().Truncate(time.Second)
	known := d.task(t)
	if r.Status == plan.Failed || r.Status == plan.TimedOut {
		known.doubt(state.Name(t.Inputs))
	}
	if it := attempts(*r, counted, at); it.Passed+it.Failed > 0 && t.Inputs != "" {
		it.Inputs = state.Name(t.Inputs)
		_, failed := known.with(it.Inputs) // which may be forgotten before this is
		if n := len(r.Spans); r.OK() && n > 0 && failed == 0 {
			it.Began = begin.Add(time.Duration(r.Spans[n-1].Started * float64(time.Second))).UTC().Truncate(time.Second)
		}
		known.ran(it)
	}
	r.Flaky = known.flaky(at)
	if mark == "" || r.Baseline == nil {
		return
	}
	if known.Base == nil || known.Base.Mark != mark || at.Sub(known.Base.Last) > unseen {
		known.Base = &broken{Mark: mark, First: at}
	}
	known.Base.Last = later(known.Base.Last, at)
	since := known.Base.First
	r.Baseline.Since = &since
}

// attempts counts how often a task passed and failed by itself in one run, after so
// many attempts that are counted.
func attempts(r plan.Result, counted int, at time.Time) run {
	out := run{At: at}
	if counted >= r.Attempts {
		return out
	}
	for _, a := range r.Before[min(counted, len(r.Before)):] {
		if ownFault(a.Status, a.Class) {
			out.Failed++
		}
	}
	switch {
	case r.OK():
		out.Passed++
	case ownFault(r.Status, r.Class):
		out.Failed++
	}
	return out
}

// ownFault tells whether an attempt failed for a reason that may come and go.
func ownFault(s plan.Status, c plan.Class) bool {
	return (s == plan.Failed || s == plan.TimedOut) && c != plan.ClassConfig
}

// ran adds a run. It is a sign of a flake when it fails although the inputs
// passed, or passes for the first time where they failed.
func (t *known) ran(it run) {
	passed, failed := t.with(it.Inputs)
	if it.Failed > 0 && it.Passed+passed > 0 || it.Passed > 0 && failed > 0 && passed == 0 {
		if t.Flaky == nil || it.At.Sub(t.Flaky.Last) > Lapse {
			t.Flaky = &flake{First: it.At}
		}
		t.Flaky.Last = later(t.Flaky.Last, it.At)
	}
	t.Runs = append(t.Runs, it)
	t.Runs = t.Runs[max(0, len(t.Runs)-maxRuns):]
}

// doubt forgets when these inputs passed: they failed, for whatever reason.
func (t *known) doubt(inputs string) {
	for i := range t.Runs {
		if t.Runs[i].Inputs == inputs {
			t.Runs[i].Began = time.Time{}
		}
	}
}

// later is the later of two times: clocks of machines differ, and what was seen
// last is not before what was seen first.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// with counts the attempts with these inputs.
func (t *known) with(inputs string) (passed, failed int) {
	for _, r := range t.Runs {
		if r.Inputs == inputs {
			passed, failed = passed+r.Passed, failed+r.Failed
		}
	}
	return passed, failed
}

// flaky returns the mark of a task, nil when it has none or it has lapsed.
func (t *known) flaky(now time.Time) *plan.Flaky {
	if t.Flaky == nil || now.Sub(t.Flaky.Last) > Lapse {
		return nil
	}
	out := &plan.Flaky{FirstSeen: t.Flaky.First, LastSeen: t.Flaky.Last}
	for _, r := range t.Runs {
		out.Runs += r.Passed + r.Failed
		if passed, _ := t.with(r.Inputs); passed > 0 {
			out.Failures += r.Failed
		}
	}
	if out.Runs > 0 {
		out.Rate = math.Round(1000*float64(out.Failures)/float64(out.Runs)) / 1000
	}
	return out
}

// task returns what is known of a task, which may be nothing yet.
func (d *document) task(t plan.Task) *known {
	name := state.Name(t.Shard, t.Command)
	i, found := slices.BinarySearchFunc(d.Tasks, name, func(k *known, name string) int { return cmp.Compare(k.Task, name) })
	if !found {
		d.Tasks = slices.Insert(d.Tasks, i, &known{Task: name, Runs: []run{}})
	}
	return d.Tasks[i]
}
