package native

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/sharding"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// The codes of findings that are made here.
const (
	codeNoLock     plan.FindingCode = "NO_LOCK"         // two who write at once may overwrite each other
	codeEmpty      plan.FindingCode = "EMPTY"           // there is nothing to work on
	codeUntrusted  plan.FindingCode = "NEW_TARGET"      // the change alters how a target is reached
	codeSkipped    plan.FindingCode = "LEFT_OUT"        // the data leave a part out
	codeTarget     plan.FindingCode = "UNREACHABLE"     // a target could not be read
	codeTried      plan.FindingCode = "TRIED"           // how a dry run asked, and what the server refused
	codeLeft       plan.FindingCode = "LEFT_BEHIND"     // things of a part that left the data
	codeLeftByPeer plan.FindingCode = "LEFT_BY_PEER"    // things of another version that no entry names
	codeFinished   plan.FindingCode = "FINISHED"        // an entry can be removed
	codeBase       plan.FindingCode = "BASE_UNREADABLE" // the data of base cannot be read
)

// A work is one dry run or one run.
type work struct {
	made
	env     integration.Environment
	head    Desired
	base    Desired // zero if there is no change, or if base cannot be read
	hasBase bool    // base was read
	units   []*unit // sorted by shard and caller
	change  change
	home    map[reconcile.Key]string // see home
	written map[string]written       // parts that were written, by name

	mu    sync.Mutex
	told  map[string]bool // findings that were reported, with their places
	noted map[string]bool // findings of the data that base has, with their places
	old   map[string]int  // how many of them are left that no finding of head was compared with

	errors int // how many errors were reported
}

// A unit is the work on one part.
type unit struct {
	part    Part
	removed []reconcile.Item // entries that base has here and head has nowhere
	isAsked bool             // the target may be asked
	isGone  bool             // head has no such part any more
	isLeft  bool             // the state remembers the part, and the data have it no more
	lost    error            // why a part that is left cannot be looked at
	begun   []reconcile.Key  // things of a part that is left which an interrupted run may have made
	input   reconcile.Input
	partly  map[reconcile.Key]string // things that were not compared completely
	plan    *reconcile.Plan          // nil if the target could not be read
	memory  *memory                  // nil if nothing is remembered
	err     error                    // the target could not be read
}

// open reads the data of both sides, and finds the parts to work on.
func (m made) open(ctx context.Context, env integration.Environment) (*work, error) {
	secret := env.Secret // nil tells an integration that there is no source
	env = env.WithDefaults()
	env.Secret = secret
	env.Log = &lockedLog{to: env.Log} // parts are read and written at once
	w := &work{made: m, env: env, told: map[string]bool{}, noted: map[string]bool{}, old: map[string]int{}}
	var err error
	if w.head, err = m.Desired(ctx, env.Query, env.Settings); err != nil {
		err = fmt.Errorf("reading the desired state: %w", err)
		if partial := (*integration.AnswerError)(nil); errors.As(err, &partial) {
			err = reconcile.Config(err)
		}
		return nil, err
	}
	if env.Base != nil {
		if w.base, err = m.Desired(ctx, env.Base, env.Settings); err != nil {
			w.find(reconcile.Finding{Finding: plan.Finding{Code: codeBase, Severity: plan.SeverityWarning,
				Message: "the desired state of base cannot be read, so no target is asked: " + err.Error()}})
		}
		w.hasBase = err == nil
	}
	if err := errors.Join(w.head.check(), w.base.check()); err != nil {
		return nil, err
	}
	w.head = w.head.withMistakes()
	w.base = w.base.withMistakes()
	w.head = w.head.reachedBy(w.base)
	w.change, w.home = newChange(w.base, w.head), home(w.base, w.head)
	for _, f := range w.base.Findings {
		w.noteOld(reconcile.Finding{Finding: f})
	}
	for _, p := range w.base.Parts {
		w.noteOld(w.offline(p)...)
	}
	w.addUnits()
	if err := w.addLeft(ctx); err != nil {
		return nil, reconcile.Transient(err)
	}
	slices.SortStableFunc(w.units, func(a, b *unit) int {
		return comparePlaces(a.part, b.part)
	})
	if w.env.Shard != "" && len(w.units) == 0 {
		return nil, reconcile.Config(fmt.Errorf("there is no shard %q", w.env.Shard))
	}
	return w, nil
}

// check returns an error if two parts cannot be told apart, or if a part cannot be compared.
func (d Desired) check() error {
	known := map[string]bool{}
	for _, p := range d.Parts {
		if err := p.checkComparable(); err != nil {
			return err
		}
		if known[p.name()] {
			return fmt.Errorf("two parts of shard %q have the caller %q%s", p.Shard, p.Caller, atSuffix(p))
		}
		known[p.name()] = true
	}
	return nil
}

// offline returns the mistakes of a part that the data alone show. Nothing is known of what is
// there.
func (w *work) offline(p Part) []reconcile.Finding {
	made := reconcile.Make(reconcile.Input{Owner: w.owner(p), Class: w.Class, Desired: p.Items, Compare: w.Compare})
	return slices.DeleteFunc(made.Findings, func(f reconcile.Finding) bool { return f.Severity != plan.SeverityError })
}

// addUnits finds the parts to work on. The target of a part may be asked if base has it, or if
// there is no change.
func (w *work) addUnits() {
	named := map[reconcile.Key]bool{}
	for _, p := range w.head.Parts {
		for _, it := range p.Items {
			named[it.Key] = true
		}
	}
	trusted := map[string]bool{} // targets of base
	for _, p := range w.base.Parts {
		trusted[text(p.Target)] = true
	}
	for _, target := range w.base.Targets {
		trusted[text(target)] = true
	}
	at := map[string]*unit{}
	for _, p := range w.head.Parts {
		if w.isSelected(p) {
			u := &unit{part: w.share(p), isAsked: p.Skip == "" && (w.env.Base == nil || trusted[text(p.Target)])}
			w.units = append(w.units, u)
			at[p.name()] = u
		}
	}
	for _, p := range w.base.Parts {
		if !w.isSelected(p) {
			continue
		}
		removed := slices.DeleteFunc(slices.Clone(w.share(p).Items), func(it reconcile.Item) bool { return named[it.Key] })
		u := at[p.name()]
		if u == nil {
			u = &unit{part: Part{Shard: p.Shard, Caller: p.Caller, At: p.At, Target: p.Target}, isGone: true}
			w.units = append(w.units, u)
		}
		u.removed = append(u.removed, inHead(removed)...)
	}
}

// isSelected reports whether a part belongs to the shard to work on.
func (w *work) isSelected(p Part) bool { return w.env.Shard == "" || p.Shard == w.env.Shard }

// share returns a part with the items of the static shard to work on.
func (w *work) share(p Part) Part {
	if w.env.Static != (plan.Fraction{}) {
		p.Items = slices.DeleteFunc(slices.Clone(p.Items), func(it reconcile.Item) bool { return !w.isMine(it.Key) })
	}
	return p
}

// isMine reports whether a key belongs to the static shard to work on.
func (w *work) isMine(k reconcile.Key) bool {
	of, id := w.env.Static.Numbers()
	return sharding.Index(string(k), of) == id
}

// owner returns the owner of what a part makes.
func (w *work) owner(p Part) reconcile.Owner {
	o := reconcile.Owner{Integration: w.env.Integration, Caller: p.Caller, From: w.env.Settings.TakeOverFrom,
		TakeOver: w.env.Approve.TakeOver}
	switch {
	case w.head.Callers == nil:
	case w.env.Base == nil:
		o.Callers = w.head.Callers
	case w.hasBase && w.base.Callers != nil:
		o.Callers = slices.Concat(w.head.Callers, w.base.Callers)
	}
	return o
}

// classed returns an error with the class that integrations have for it.
func classed(err error) error {
	if err == nil {
		return nil
	}
	switch reconcile.ClassOf(err) {
	case reconcile.ClassConfig:
		return integration.Failure(integration.FailureOfConfig, err)
	case reconcile.ClassTransient:
		return integration.Failure(integration.FailureTransient, err)
	default:
		return err
	}
}

// nothingDone returns the error of a run that ended before it had a plan.
func nothingDone(err error) error {
	return classed(fmt.Errorf("%w: %w", ErrNothingDone, err))
}

// join joins errors of parts with those of targets that could not be read, and says so if none
// of them could be.
func (w *work) join(errs []error) error {
	asked, failed := 0, 0
	for _, u := range w.units {
		if u.isAsked && !u.isLeft {
			asked++
		}
		if u.err != nil && !w.mayBeOffline() {
			if !u.isLeft {
				failed++
			}
			errs = append(errs, u.err)
		}
	}
	err := reconcile.Join(errs...)
	if asked > 0 && failed == asked {
		err = fmt.Errorf("%w: %w", ErrNothingDone, err)
	}
	return classed(err)
}
