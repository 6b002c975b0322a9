package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/app-sre/prcheck/internal/crash"
)

// A Doer reads and writes single things.
type Doer interface {
	// Read returns the thing as it is now, nil if it is not there.
	Read(ctx context.Context, key Key) (*Thing, error)
	// Write does what the step says. The thing is the reading that the write must be
	// conditional on, nil if it must not exist yet. What is written carries the mark. If
	// somebody else was faster, the error is [ErrConflict].
	Write(ctx context.Context, s Step, fresh *Thing, mark Mark) error
}

// A Memory is what the library needs of a state.
type Memory interface {
	Remember(ctx context.Context, key Key, r Record) error
	Forget(ctx context.Context, key Key) error
}

// Options say how a plan is executed.
type Options struct {
	Limit int           // how many steps run at once; 0 means one
	Grace time.Duration // how long a step may go on after the context has ended
	Done  func(Result)  // is told of each result as it comes; nil tells nobody
	// Prepare does what must be done before the first step that writes, and returns the errors of
	// steps that must not be done; these are not run. Nil prepares nothing.
	Prepare func(ctx context.Context, p *Plan) map[Key]error
	// Settle waits after each wave until what was written in it works, and returns the errors of
	// those that do not. These steps count as failed from then on, and Done is told of them
	// again. Deletions are not waited for. Nil waits for nothing.
	Settle func(ctx context.Context, done []Step) map[Key]error
}

// A Status is how a step ended.
type Status string

// The ways a step can end. Unchanged: nothing was to be done. Held: the plan does not allow
// it, which is an error of the plan and not of the step.
const (
	StatusDone      Status = "done"
	StatusUnchanged Status = "unchanged"
	StatusHeld      Status = "held"
	StatusFailed    Status = "failed"
	StatusNotRun    Status = "not_run"
)

// A Result is how a step ended.
type Result struct {
	Step   Step
	Status Status
	Err    error // why it failed or was not run, else nil
}

// maxConflicts is how often a step is tried when others change its thing all the time.
const maxConflicts = 5

// Execute does the steps of a plan, wave after wave, and returns a result for each step in key
// order. Before each write the thing is read again, and its owner is judged again. A step is
// not run if a step that it needs failed, or if the context has ended; the context of a step
// that runs then ends after the grace time. The memory may be nil.
//
// The error joins the errors of all steps, see [ClassOf].
func Execute(ctx context.Context, p *Plan, doer Doer, memory Memory, opts Options) ([]Result, error) {
	lasting, cancel := outlast(ctx, opts.Grace)
	defer cancel()
	e := &execution{plan: p, doer: doer, memory: memory, opts: opts, results: make([]Result, len(p.Steps)),
		at: map[Key]int{}, users: map[Key][]Key{}}
	last := 0
	for i, s := range p.Steps {
		e.at[s.Key] = i
		last = max(last, s.Wave)
		if s.Thing != nil && s.Action.Writes() {
			for _, used := range append(slices.Clone(s.Thing.Needs), s.Thing.Parent) {
				e.users[used] = append(e.users[used], s.Key)
			}
		}
	}
	if opts.Prepare != nil && last > 0 && ctx.Err() == nil {
		e.refused = guarded(e.writing(), func() map[Key]error { return opts.Prepare(ctx, p) })
	}
	for wave := range last + 1 {
		e.runWave(ctx, lasting, wave)
		e.settleWave(ctx, wave)
	}
	return e.results, gather(e.results)
}

// An execution is one call of Execute.
type execution struct {
	plan    *Plan
	doer    Doer
	memory  Memory
	opts    Options
	results []Result
	at      map[Key]int   // index of the step
	users   map[Key][]Key // things that are written and used another one
	refused map[Key]error // steps that must not be done
	telling sync.Mutex
}

// outlast returns a context that ends some time after ctx has ended.
func outlast(ctx context.Context, grace time.Duration) (context.Context, func()) {
	if grace <= 0 {
		return ctx, func() {}
	}
	lasting, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		ending := time.AfterFunc(grace, end)
		context.AfterFunc(lasting, func() { ending.Stop() })
	})
	return lasting, func() { stop(); end() }
}

// runWave runs the steps of one wave. Wave 0 has the steps that write nothing. No step starts
// after ctx has ended; those that run have the lasting context.
func (e *execution) runWave(ctx, lasting context.Context, wave int) {
	var running sync.WaitGroup
	slots := make(chan struct{}, max(1, e.opts.Limit))
	for i := range e.plan.Steps {
		s := &e.plan.Steps[i]
		if s.Wave != wave {
			continue
		}
		run := func() {
			e.results[i] = e.runStep(ctx, lasting, *s)
			if e.opts.Done != nil {
				e.telling.Lock()
				defer e.telling.Unlock()
				e.opts.Done(e.results[i])
			}
		}
		if !s.asks() {
			run()
			continue
		}
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			run()
		})
	}
	running.Wait()
}

// asks reports whether a step reads or writes anything when it runs.
func (s *Step) asks() bool {
	return s.Action.Writes() || s.Action == Forget || s.Action == None && s.learn
}

// runStep runs one step. A panic is the error of the step.
func (e *execution) runStep(ctx, lasting context.Context, s Step) (out Result) {
	out.Step = s
	defer func() {
		if r := recover(); r != nil {
			out.Status, out.Err = StatusFailed, errors.New(crash.Text(r))
		}
	}()
	switch {
	case s.Action == Blocked:
		out.Status = StatusHeld
		return out
	case s.Action.Writes():
		if out.Err = e.mayRun(ctx, s); out.Err != nil {
			out.Status = StatusNotRun
			return out
		}
		out.Err = e.write(lasting, s)
	case s.Action == Forget:
		out.Err = e.forgetGone(lasting, s)
	case s.Action == None && s.learn:
		out.Err = e.remember(lasting, s)
	default:
		out.Status = StatusUnchanged
		return out
	}
	out.Status = StatusDone
	if out.Err != nil {
		out.Status = StatusFailed
	}
	return out
}

// mayRun returns why a step is not run.
func (e *execution) mayRun(ctx context.Context, s Step) error {
	if err := ctx.Err(); err != nil {
		return Transient(err)
	}
	if err := e.refused[s.Key]; err != nil {
		return err
	}
	before := s.Needs
	if s.Action == Remove {
		before = e.users[s.Key]
	}
	for _, n := range before {
		i, planned := e.at[n]
		if !planned || e.plan.Steps[i].Wave >= s.Wave {
			continue // it does not come before, as a mark on what must go needs nothing
		}
		if status := e.results[i].Status; status == StatusFailed || status == StatusNotRun {
			return Transient(fmt.Errorf("%q failed", n))
		}
	}
	return nil
}

// write does a step over a fresh reading, again if somebody else is faster.
func (e *execution) write(ctx context.Context, s Step) error {
	var err error
	for range maxConflicts {
		var fresh *Thing
		if fresh, err = e.doer.Read(ctx, s.Key); err != nil {
			return fmt.Errorf("reading it again: %w", err)
		}
		if isDone, err := e.recheck(s, fresh); isDone || err != nil {
			return errors.Join(err, e.settle(ctx, s, isDone))
		}
		if err = e.doer.Write(ctx, s, fresh, e.plan.Owner.Mark()); err == nil {
			return e.settle(ctx, s, true)
		}
		if !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return err
}

// recheck compares a fresh reading with the plan. It reports whether the step is done already.
func (e *execution) recheck(s Step, fresh *Thing) (isDone bool, err error) {
	switch {
	case fresh == nil && s.Action == Remove:
		return true, nil
	case fresh == nil && s.Action != Create:
		return false, Transient(errors.New("it is gone; the next run makes it"))
	case fresh == nil:
		return false, nil
	}
	mark := fresh.Mark
	if fresh.Unmarkable {
		mark = e.plan.Owner.Mark() // the plan judged it by its parent
	}
	v := e.plan.rules.judge(e.plan.Owner, mark, s.wish)
	switch {
	case !v.Act:
		return false, Transient(fmt.Errorf("it belongs to %s now", v.Owner))
	case s.Action == Create:
		return false, Transient(errors.New("it is there now; the next run compares it"))
	case (s.Action == Remove || s.Action == Replace) && (fresh.Protected || v.Owner != Us):
		return false, Transient(errors.New("it is protected now, or no longer ours"))
	}
	return false, nil
}

// settle tells the memory what was done.
func (e *execution) settle(ctx context.Context, s Step, isDone bool) error {
	if !isDone || e.memory == nil {
		return nil
	}
	if s.Action != Remove {
		return e.remember(ctx, s)
	}
	left, err := e.doer.Read(ctx, s.Key)
	if err != nil {
		return fmt.Errorf("looking whether it is gone: %w", err)
	}
	if left != nil {
		return nil // deleting takes time; the state forgets it when it is gone
	}
	return e.forget(ctx, s.Key)
}

func (e *execution) remember(ctx context.Context, s Step) error {
	if e.memory == nil {
		return nil
	}
	if err := e.memory.Remember(ctx, s.Key, Record{Applied: s.Item.Body, Policy: s.Item.Policy,
		Deleting: s.Item.Delete}); err != nil {
		return fmt.Errorf("it is done, but not remembered: %w", err)
	}
	return nil
}

func (e *execution) forget(ctx context.Context, k Key) error {
	if e.memory == nil {
		return nil
	}
	if err := e.memory.Forget(ctx, k); err != nil {
		return fmt.Errorf("it is gone, but not forgotten: %w", err)
	}
	return nil
}

// forgetGone forgets a thing that the plan did not find, if it still is not there: another run may
// have made it since then.
func (e *execution) forgetGone(ctx context.Context, s Step) error {
	if s.Thing == nil && e.memory != nil {
		switch fresh, err := e.doer.Read(ctx, s.Key); {
		case err != nil:
			return fmt.Errorf("reading it again: %w", err)
		case fresh != nil:
			return Transient(errors.New("it is there again; the next run compares it"))
		}
	}
	return e.forget(ctx, s.Key)
}

// settleWave waits until what a wave has written works. What does not work fails its step, so
// that steps that need it are not run.
func (e *execution) settleWave(ctx context.Context, wave int) {
	if e.opts.Settle == nil || wave == 0 || ctx.Err() != nil {
		return
	}
	var done []Step
	for _, r := range e.results {
		if r.Step.Wave == wave && r.Status == StatusDone && r.Step.Action.Writes() && r.Step.Action != Remove {
			done = append(done, r.Step)
		}
	}
	if len(done) == 0 {
		return
	}
	wrong := guarded(done, func() map[Key]error { return e.opts.Settle(ctx, done) })
	for _, k := range slices.Sorted(maps.Keys(wrong)) {
		i, planned := e.at[k]
		if !planned || wrong[k] == nil {
			continue
		}
		e.results[i].Status, e.results[i].Err = StatusFailed, wrong[k]
		if e.opts.Done != nil {
			e.opts.Done(e.results[i])
		}
	}
}

// guarded calls a function that returns the errors of steps. A panic is the error of all steps.
func guarded(steps []Step, call func() map[Key]error) (wrong map[Key]error) {
	defer func() {
		if p := recover(); p != nil {
			text := crash.Text(p)
			wrong = map[Key]error{}
			for _, s := range steps {
				wrong[s.Key] = errors.New(text)
			}
		}
	}()
	return call()
}

// writing returns the steps that write.
func (e *execution) writing() []Step {
	return slices.DeleteFunc(slices.Clone(e.plan.Steps), func(s Step) bool { return !s.Action.Writes() })
}
