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

// Lapse is how long a task stays flaky after that was last seen, and how long runs are
// remembered.
const Lapse = 14 * 24 * time.Hour

// maxGap is the longest time between two sightings of a failure on base that count as the
// same failure.
const maxGap = 24 * time.Hour

// A Store remembers how tasks ended.
type Store struct {
	in      state.Store
	counted map[string]int                      // attempts by task id, see Counted
	rules   func(plan.Task) string              // digests of rules, see FoundBy
	reading func(plan.Task) (read, tree string) // names the files that tasks read, see Reading
}

// NewStore returns a store that keeps the history in a state.
func NewStore(in state.Store) Store { return Store{in: in} }

// Counted returns a store that leaves out the first attempts of tasks, because the run
// that made them has remembered them. It takes the number of these attempts by task id.
func (s Store) Counted(attempts map[string]int) Store {
	s.counted = attempts
	return s
}

// Reading returns a store that remembers which files tasks read. The function names the files that
// the last attempt of a task read, and all files that it could read.
func (s Store) Reading(read func(plan.Task) (read, tree string)) Store {
	s.reading = read
	return s
}

func key(integration string) string { return "blame/" + state.Name(integration) + ".json" }

// Remember adds the results of a run that lasted from begin until now. It fills into the
// results whether the tasks are flaky and since when they fail on base. Marks holds, by
// task id, the mark of each failure that is the same on base.
//
// The error joins one error for each integration whose document could not be written.
// The results are filled in all the same.
func (s Store) Remember(ctx context.Context, tasks []plan.Task, results []plan.Result, marks map[string]string,
	begin, now time.Time) error {
	byName := map[string][]int{}
	for i, t := range tasks {
		if i < len(results) && results[i].Attempts > 0 {
			byName[t.Integration] = append(byName[t.Integration], i)
		}
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		added := false
		add := func(doc *document) {
			added = true
			doc.Version, doc.Integration = Version, name
			doc.removeOld(now)
			for _, i := range byName[name] {
				found := s.announcedBy(tasks[i], results[i])
				in := ended{counted: s.counted[tasks[i].ID], mark: marks[tasks[i].ID], announced: found, begin: begin, now: now}
				if s.reading != nil {
					in.read, in.tree = s.reading(tasks[i])
				}
				doc.add(tasks[i], &results[i], in)
			}
			doc.trim()
			doc.trimEffects()
		}
		warning, err := kind(name, now).Update(ctx, s.in, key(name), add)
		if !added { // the document cannot be written, but the results are filled in
			add(s.read(ctx, name, now))
		}
		if err = errors.Join(warning, err); err != nil {
			errs = append(errs, fmt.Errorf("remembering how %q ended: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// read returns the document of an integration, or an empty one if there is none or it
// cannot be read.
func (s Store) read(ctx context.Context, integration string, now time.Time) *document {
	doc, err := kind(integration, now).Read(ctx, s.in, key(integration))
	if err != nil {
		return &document{}
	}
	doc.removeOld(now)
	return doc
}

// ended is what is known about a result beside the result itself.
type ended struct {
	counted    int        // attempts that are remembered already
	mark       string     // of a failure that is the same on base
	announced  *announced // the effects, nil if they are not remembered
	read, tree string     // name the files that the last attempt read, and could read
	begin, now time.Time  // of the run
}

// add adds a result, without the attempts that are counted, and fills in the history of
// its task.
func (d *document) add(t plan.Task, r *plan.Result, in ended) {
	at := in.now.UTC().Truncate(time.Second)
	record := d.task(t)
	if r.Status == plan.Failed || r.Status == plan.TimedOut {
		record.forgetPasses(run{Inputs: state.Name(t.Inputs), Read: in.read, Tree: in.tree})
	}
	if latest := countAttempts(*r, in.counted, at); latest.Passed+latest.Failed > 0 && t.Inputs != "" {
		latest.Inputs, latest.Read, latest.Tree = state.Name(t.Inputs), in.read, in.tree
		// A pass after a failure is no proof, also when the failure is forgotten first.
		_, failed := record.attemptsWith(latest)
		if n := len(r.Spans); r.OK() && n > 0 && failed == 0 {
			latest.Announced = in.announced
			latest.Began = in.begin.Add(time.Duration(r.Spans[n-1].Started * float64(time.Second))).UTC().Truncate(time.Second)
		}
		record.addRun(latest)
	}
	r.Flaky = record.flaky(at)
	if in.mark == "" || r.Baseline == nil {
		return
	}
	if record.Base == nil || record.Base.Mark != in.mark || at.Sub(record.Base.Last) > maxGap {
		record.Base = &baseFailure{Mark: in.mark, First: at}
	}
	record.Base.Last = later(record.Base.Last, at)
	since := record.Base.First
	r.Baseline.Since = &since
}

// countAttempts counts how many attempts of one run passed, and how many failed by the
// fault of the task, without the first attempts that are counted.
func countAttempts(r plan.Result, counted int, at time.Time) run {
	out := run{At: at}
	if counted >= r.Attempts {
		return out
	}
	for _, a := range r.Before[min(counted, len(r.Before)):] {
		if isOwnFault(a.Status, a.Class) {
			out.Failed++
		}
	}
	switch {
	case r.OK():
		out.Passed++
	case isOwnFault(r.Status, r.Class):
		out.Failed++
	}
	return out
}

// isOwnFault reports whether an attempt failed for a reason that may come and go. A
// mistake in the data or the settings stays. A shortage of the machine is no fault of the task.
func isOwnFault(s plan.Status, c plan.Class) bool {
	return (s == plan.Failed || s == plan.TimedOut) && c != plan.ClassConfig && c != plan.ClassEnvironment
}

// addRun adds a run. The run shows that the task is flaky if it failed with inputs that
// passed, or if it is the first to pass with inputs that failed.
func (t *task) addRun(latest run) {
	passed, failed := t.attemptsWith(latest)
	if latest.Failed > 0 && latest.Passed+passed > 0 || latest.Passed > 0 && failed > 0 && passed == 0 {
		if t.Flaky == nil || latest.At.Sub(t.Flaky.Last) > Lapse {
			t.Flaky = &flakiness{First: latest.At}
		}
		t.Flaky.Last = later(t.Flaky.Last, latest.At)
	}
	t.Runs = append(t.Runs, latest)
	t.Runs = t.Runs[max(0, len(t.Runs)-maxRuns):]
}

// forgetPasses forgets when the task passed with these inputs and these files, because it failed
// with them.
func (t *task) forgetPasses(failed run) {
	for i := range t.Runs {
		if t.Runs[i].isLike(failed) {
			t.Runs[i].Began, t.Runs[i].Announced = time.Time{}, nil
		}
	}
}

// later returns the later of two times. The clocks of machines differ, and the last time
// must not be before the first.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// isLike reports whether a run had the inputs of another one: it saw the same of the bundles, and
// could read the same files or did. A run that failed stopped early, so that it may have read
// fewer files than one that passed.
func (r run) isLike(other run) bool {
	return r.Inputs == other.Inputs && (r.Tree == other.Tree || r.Read == other.Read && r.Read != "")
}

// attemptsWith counts the attempts with the inputs of a run.
func (t *task) attemptsWith(like run) (passed, failed int) {
	for _, r := range t.Runs {
		if r.isLike(like) {
			passed, failed = passed+r.Passed, failed+r.Failed
		}
	}
	return passed, failed
}

// flaky returns how flaky a task is, or nil if it is not flaky.
func (t *task) flaky(now time.Time) *plan.Flaky {
	if t.Flaky == nil || now.Sub(t.Flaky.Last) > Lapse {
		return nil
	}
	out := &plan.Flaky{FirstSeen: t.Flaky.First, LastSeen: t.Flaky.Last}
	for _, r := range t.Runs {
		out.Runs += r.Passed + r.Failed
		if passed, _ := t.attemptsWith(r); passed > 0 {
			out.Failures += r.Failed
		}
	}
	if out.Runs > 0 {
		out.Rate = math.Round(1000*float64(out.Failures)/float64(out.Runs)) / 1000
	}
	return out
}

// task returns the history of a task. A task without a history gets an empty one.
func (d *document) task(t plan.Task) *task {
	name := state.Name(t.Shard, t.Command)
	i, found := slices.BinarySearchFunc(d.Tasks, name, func(t *task, name string) int { return cmp.Compare(t.Task, name) })
	if !found {
		d.Tasks = slices.Insert(d.Tasks, i, &task{Task: name, Runs: []run{}})
	}
	return d.Tasks[i]
}
