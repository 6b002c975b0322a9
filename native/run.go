package native

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/reconcile"
)

// DryRun implements [integration.Native]: it makes the plans and reports them.
func (m made) DryRun(ctx context.Context, env integration.Environment) error {
	w, err := m.open(ctx, env)
	if err != nil {
		return nothingDone(err)
	}
	w.plan(ctx)
	w.reportFindings()
	w.checkChange()
	w.reportSteps()
	return w.join(nil)
}

// Run implements [integration.Native]: it makes the plans as DryRun does, and executes them.
func (m made) Run(ctx context.Context, env integration.Environment, act integration.Actors) error {
	w, err := m.open(ctx, env)
	if err != nil {
		return nothingDone(err)
	}
	w.plan(ctx)
	w.reportFindings()
	errs, err := w.each(ctx, func(ctx context.Context, u *unit, workers int) error { return w.execute(ctx, u, act, workers) })
	if err != nil {
		return classed(err)
	}
	return w.join(errs)
}

// each does something for all units at once, and divides the workers among them.
func (w *work) each(ctx context.Context, do func(ctx context.Context, u *unit, workers int) error) ([]error, error) {
	if len(w.units) == 0 {
		return nil, nil
	}
	var numbers []string
	for i := range w.units {
		numbers = append(numbers, strconv.Itoa(i))
	}
	return reconcile.Each(ctx, numbers, w.env.Workers, 0, func(ctx context.Context, number string, workers int) error {
		i, err := strconv.Atoi(number)
		if err != nil {
			return err
		}
		u := w.units[i]
		err = do(ctx, u, workers)
		if err == nil || err == u.err { //nolint:errorlint // it is the same error, which names the shard
			return err
		}
		return fmt.Errorf("%s: %w", cmp.Or(u.part.Shard, w.env.Integration), err)
	})
}

// plan reads all targets and makes the plans.
func (w *work) plan(ctx context.Context) {
	errs, err := w.each(ctx, func(ctx context.Context, u *unit, _ int) error { return w.read(ctx, u) })
	for i, u := range w.units {
		if u.err = err; err == nil {
			u.err = errs[i]
		}
		if u.err == nil && u.isAsked {
			w.make(u)
		}
	}
	w.passGate()
}

// read reads the target of a unit, and what is remembered of it.
func (w *work) read(ctx context.Context, u *unit) (err error) {
	if !u.isAsked {
		return nil
	}
	in := reconcile.Input{Owner: w.owner(u.part), Class: w.Class, Prune: w.Prune, Desired: w.claimed(u.part.Items), Removed: u.removed, Compare: w.Compare, Gate: w.gate()}
	if w.env.State != nil {
		u.memory = newMemory(w.env.State, u.part)
		if in.Known, err = u.memory.load(ctx); err != nil {
			return reconcile.Transient(fmt.Errorf("reading the state: %w", err))
		}
	} else if w.Class == reconcile.Knowing {
		return reconcile.Config(errors.New("it needs a state to know what it made: name the place with --state"))
	}
	current, err := w.Current(ctx, w.env, u.part)
	if err != nil {
		return err
	}
	for _, t := range current.Things {
		if w.isOf(u, t.Key) {
			in.Current = append(in.Current, t)
		}
	}
	maps.DeleteFunc(in.Known, func(k reconcile.Key, _ reconcile.Record) bool { return !w.isOf(u, k) })
	in.Unread, in.Errors = current.Unread, current.Errors
	u.input = in
	return nil
}

// isOf reports whether a unit works on the thing of a key: no other part has its entry, and it
// belongs to the static shard.
func (w *work) isOf(u *unit, k reconcile.Key) bool {
	at, isNamed := w.home[k]
	return (!isNamed || at == u.part.name()) && (w.env.Static == (plan.Fraction{}) || w.isMine(k))
}

// claimed returns items with what the settings of base, or a person, allow to take.
func (w *work) claimed(items []reconcile.Item) []reconcile.Item {
	out := make([]reconcile.Item, len(items))
	for i, it := range items {
		adopt, takeOver := w.env.Settings.Claims(string(it.Key))
		adopt = adopt || w.env.Approve.Adopt
		switch {
		case adopt && takeOver:
			it.Claim = reconcile.AdoptOrTakeOver
		case takeOver:
			it.Claim = reconcile.TakeOver
		case adopt:
			it.Claim = reconcile.Adopt
		}
		out[i] = it
	}
	return out
}

// stepGrace is how long a step may go on after the run was told to end. It is shorter than
// half the life of a lease, and than what Kubernetes grants.
const stepGrace = 20 * time.Second

// execute does the plan of a unit.
func (w *work) execute(ctx context.Context, u *unit, act integration.Actors, workers int) error {
	if u.plan == nil {
		return nil
	}
	doer, err := w.Doer(ctx, w.env, act, u.part)
	if err != nil {
		return err
	}
	var memory reconcile.Memory
	if u.memory != nil && act.State != nil {
		u.memory.store = act.State
		memory = u.memory
		end, err := w.begin(ctx, u, act.State)
		if err != nil {
			return reconcile.Transient(err)
		}
		defer end()
	}
	_, err = reconcile.Execute(ctx, u.plan, doer, memory, reconcile.Options{Limit: workers, Grace: stepGrace, Done: func(r reconcile.Result) { w.tellResult(u, r, act) }})
	return err
}

// tellResult writes how a step ended into the log and the journal.
func (w *work) tellResult(u *unit, r reconcile.Result, act integration.Actors) {
	if r.Status == reconcile.StatusUnchanged || r.Status == reconcile.StatusHeld {
		return
	}
	deed := integration.Deed{
		Shard: u.part.Shard, Key: string(r.Step.Key), Action: string(r.Step.Action), Status: string(r.Status),
		File: r.Step.Place.File, Pointer: r.Step.Place.Pointer,
	}
	line := fmt.Sprintf("%s %s: %s", r.Step.Action, r.Step.Key, r.Status)
	if r.Err != nil {
		deed.Error = r.Err.Error()
		line += ": " + deed.Error
	}
	w.say(line)
	if act.Did != nil {
		act.Did(deed)
	}
}

// say writes a line into the log.
func (w *work) say(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	_, _ = fmt.Fprintln(w.env.Log, indent+sanitize.Line(line)) // the log is for people
}
