package native

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// DryRun implements [integration.Native]: it makes the plans and reports them.
func (m made) DryRun(ctx context.Context, env integration.Environment) error {
	w, err := m.open(ctx, env)
	if err != nil {
		return nothingDone(err)
	}
	if err := w.check(ctx); err != nil {
		return nothingDone(err)
	}
	w.plan(ctx)
	w.planBase(ctx)
	w.try(ctx)
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
	w.sayRefused()
	if err := w.rememberParts(ctx, act.State); err != nil {
		return nothingDone(reconcile.Transient(err))
	}
	var errs []error
	for _, last := range []bool{false, true} {
		errs = append(errs, w.executeUnits(ctx, act, last)...)
	}
	w.stand()
	return w.join(errs)
}

// executeUnits does the plans of the units that come last, or of the others. It returns their
// errors.
func (w *work) executeUnits(ctx context.Context, act integration.Actors, last bool) []error {
	units := slices.DeleteFunc(slices.Clone(w.units), func(u *unit) bool { return u.part.Last != last })
	groups := w.groups(units)
	errs := make([][]error, len(groups))
	broken := each(ctx, len(groups), w.env.Workers, func(ctx context.Context, i, workers int) error {
		errs[i] = w.executeGroup(ctx, groups[i], act, workers)
		return nil
	})
	var out []error
	for i, g := range groups {
		out = append(out, broken[i])
		for j, err := range errs[i] {
			out = append(out, w.named(g.units[j], err))
		}
	}
	return out
}

// named returns an error with the name of its part.
func (w *work) named(u *unit, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s%s: %w", cmp.Or(u.part.Shard, w.env.Integration), atSuffix(u.part), err)
}

// each does something for n things at once, and divides the workers among them. It returns n
// errors.
func each(ctx context.Context, n, workers int, do func(ctx context.Context, i, workers int) error) []error {
	if n == 0 {
		return nil
	}
	numbers := make([]string, n)
	for i := range numbers {
		numbers[i] = strconv.Itoa(i)
	}
	errs, err := reconcile.Each(ctx, numbers, workers, 0, func(ctx context.Context, number string, workers int) error {
		i, err := strconv.Atoi(number)
		if err != nil {
			return err
		}
		return do(ctx, i, workers)
	})
	if err != nil {
		return slices.Repeat([]error{err}, n)
	}
	return errs
}

// plan reads all targets and makes the plans.
func (w *work) plan(ctx context.Context) {
	errs := each(ctx, len(w.units), w.env.Workers, func(ctx context.Context, i, _ int) error {
		return w.read(ctx, w.units[i])
	})
	for i, u := range w.units {
		switch err := errs[i]; {
		case err == nil && u.isAsked && u.lost == nil:
			w.make(u)
		case u.isLeft && !w.head.DeleteLeft:
			u.lost = cmp.Or(u.lost, err)
		default:
			u.err = w.named(u, err)
		}
	}
	w.passGate(w.units)
}

// read reads the target of a unit, and what is remembered of it.
func (w *work) read(ctx context.Context, u *unit) (err error) {
	if !u.isAsked {
		return nil
	}
	if err := w.remember(ctx, u); err != nil || u.lost != nil {
		return err
	}
	if err := w.complete(ctx, u); err != nil {
		return err
	}
	u.part.Known = maps.Clone(u.input.Known)
	current, err := w.Current(ctx, w.env, u.part)
	if err != nil {
		return err
	}
	u.input.Desired, u.mistakes = withMistakes(w.claimed(u.part.Items), current.Mistakes), current.Mistakes
	for _, t := range current.Things {
		if w.isOf(u, t.Key) {
			u.input.Current = append(u.input.Current, t)
		}
	}
	u.input.Unread, u.input.Errors, u.input.Kept, u.partly = current.Unread, current.Errors, current.Kept, current.Partly
	return nil
}

// remember begins the input of a unit with what is remembered of it.
func (w *work) remember(ctx context.Context, u *unit) (err error) {
	u.input = reconcile.Input{Owner: w.owner(u.part), Class: w.Class, Prune: w.Prune, Removed: u.removed,
		Compare: w.Compare, Gate: w.gateOf(u.part)}
	if u.isLeft {
		w.setLeft(u)
	}
	if w.env.State != nil {
		u.memory = w.newMemory(w.env.State, u.part)
		if u.input.Known, err = u.memory.load(ctx); err != nil {
			return reconcile.Transient(fmt.Errorf("reading the state: %w", err))
		}
		if u.isLeft {
			u.begun = w.begun(ctx, u)
		}
	} else if w.Class == reconcile.Knowing {
		return reconcile.Config(errors.New("it needs a state to know what it made: name the place with --state"))
	}
	maps.DeleteFunc(u.input.Known, func(k reconcile.Key, _ reconcile.Record) bool { return !w.isOf(u, k) })
	return nil
}

// complete completes the entries of a unit. They stay the same entries at the same target.
func (w *work) complete(ctx context.Context, u *unit) error {
	if w.Complete == nil || len(u.part.Items) == 0 {
		return nil
	}
	u.part.OfBase = w.base.Whole
	full, err := w.Complete(ctx, w.env, u.part)
	if err != nil {
		return err
	}
	if !slices.Equal(full.keys(), u.part.keys()) {
		return errors.New("completing it changed which entries it has, which is a mistake of the integration")
	}
	u.part.Items = full.Items
	return nil
}

// keys returns the keys of the entries of a part, sorted.
func (p Part) keys() []reconcile.Key {
	var out []reconcile.Key
	for _, it := range p.Items {
		out = append(out, it.Key)
	}
	slices.Sort(out)
	return out
}

// withMistakes notes mistakes of items, of which there may be some already. It changes them.
func withMistakes(items []reconcile.Item, mistakes map[reconcile.Key]reconcile.Mistake) []reconcile.Item {
	for i := range items {
		if m, ok := mistakes[items[i].Key]; ok && items[i].Mistake == (reconcile.Mistake{}) {
			items[i].Mistake = m
		}
	}
	return items
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
	opts := reconcile.Options{Limit: workers, Grace: stepGrace, Done: func(r reconcile.Result) { w.tellResult(u, r, act) }}
	if w.Prepare != nil {
		opts.Prepare = func(ctx context.Context, p *reconcile.Plan) map[reconcile.Key]error {
			return w.Prepare(ctx, w.env, act, u.part, p)
		}
	}
	if w.Settle != nil {
		opts.Settle = func(ctx context.Context, done []reconcile.Step) map[reconcile.Key]error {
			return w.Settle(ctx, w.env, u.part, done)
		}
	}
	done, err := reconcile.Execute(ctx, u.plan, doer, memory, opts)
	u.ended = map[reconcile.Key]reconcile.Status{}
	for _, r := range done {
		u.ended[r.Step.Key] = r.Status
	}
	return errors.Join(err, w.keepStatus(ctx, u, act.State, done))
}

// tellResult writes how a step ended into the log and the journal.
func (w *work) tellResult(u *unit, r reconcile.Result, act integration.Actors) {
	if r.Status == reconcile.StatusUnchanged || r.Status == reconcile.StatusHeld {
		return
	}
	deed := integration.Deed{
		Shard: u.part.Shard, Key: string(r.Step.Key), Action: string(r.Step.Action), Status: string(r.Status),
		File: r.Step.Place.File, Pointer: r.Step.Place.Pointer, Changes: fieldChanges(r.Step.Changes),
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
