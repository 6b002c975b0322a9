package native

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
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
	isTold  bool    // the data alone are told, and nothing is asked
	units   []*unit // sorted by shard and caller
	change  change
	home    map[reconcile.Key]string // see home
	written map[string]written       // parts that were written, by name

	mu    sync.Mutex
	told  map[string]bool // findings that were reported, with their places
	noted map[string]bool // findings of the data that base has, with their places
	old   map[string]int  // how many of them are left that no finding of head was compared with

	errors    int         // how many errors were reported
	announced []announced // effects that were said and not yet reported
}

// A unit is the work on one part.
type unit struct {
	part    Part
	items   []reconcile.Item // the entries of the part as the data have them
	removed []reconcile.Item // entries that base has here and head has nowhere
	isAsked bool             // the target may be asked
	isGone  bool             // head has no such part any more
	isLeft  bool             // the state remembers the part, and the data have it no more
	lost    error            // why a part that is left cannot be looked at
	begun   []reconcile.Key  // things of a part that is left which an interrupted run may have made
	input   reconcile.Input
	// mistakes are those of entries by what is there.
	mistakes map[reconcile.Key]reconcile.Mistake
	// onBase is what the data of base lead to by what is there, if isOnBase. Then planned is what those of head
	// lead to before the system tried it.
	onBase   []plan.Effect
	isOnBase bool
	planned  map[string]plan.Effect
	partly   map[reconcile.Key]string           // things that were not compared completely
	plan     *reconcile.Plan                    // nil if the target could not be read
	memory   *memory                            // nil if nothing is remembered
	err      error                              // the target could not be read
	ended    map[reconcile.Key]reconcile.Status // how the steps of the plan ended; nil if it was not executed
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
			share := w.share(p)
			u := &unit{part: share, items: share.Items, isAsked: p.Skip == "" && (w.env.Base == nil || trusted[text(p.Target)])}
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

// An entry is an item of the data with its part.
type entry struct {
	part Part
	item reconcile.Item
}

// deletes reports whether a run deletes the thing because its entry says so.
func (e entry) deletes() bool {
	it := e.item
	return e.part.Skip == "" && it.Delete && it.Policy == reconcile.Manage && !it.Protected &&
		it.Mistake == (reconcile.Mistake{})
}

// text returns what the entry says, wherever its target is.
func (e entry) text() string { return text(Part{Items: []reconcile.Item{e.item}}.state()) }

// isAt reports whether two entries have the same target.
func (e entry) isAt(other entry) bool { return text(e.part.Target) == text(other.part.Target) }

// A dataStep is what the data of both sides alone say that the merge of the change does to a thing.
type dataStep struct {
	action  reconcile.Action
	item    reconcile.Item
	reason  string
	changes []reconcile.Change // of the thing, as far as the data tell
}

// dataSteps returns what the data alone say of the things of a unit. Of the entries that are gone, a run
// deletes the things of those that are pruned.
func (w *work) dataSteps(u *unit, pruned map[reconcile.Key]bool) []dataStep {
	var out []dataStep
	for _, it := range u.items {
		if s := w.dataStep(entry{u.part, it}); s.action != reconcile.None {
			out = append(out, s)
		}
	}
	for _, it := range u.removed {
		if pruned[it.Key] && it.Policy == reconcile.Manage && !w.change.before[it.Key].deletes() {
			out = append(out, dataStep{action: reconcile.Remove, item: it, reason: "the change removes its entry"})
		}
	}
	return out
}

// dataStep returns what the data alone say of the thing of an entry of head.
func (w *work) dataStep(now entry) dataStep {
	it := now.item
	was, isOld := w.change.before[it.Key]
	isOld = isOld && was.part.Skip == ""
	switch {
	case now.part.Skip != "" || it.Policy == reconcile.Observe || it.Mistake != (reconcile.Mistake{}):
	case now.deletes() && !(isOld && was.deletes() && was.isAt(now)):
		return dataStep{action: reconcile.Remove, item: it, reason: "its entry says that it is deleted"}
	case it.Delete || isOld && was.text() == now.text():
	case !isOld || was.deletes():
		return dataStep{action: reconcile.Create, item: it, reason: "its entry is new"}
	case w.Replaces != nil && w.Replaces(was.item, it):
		changes, _ := w.alters(was.item, it)
		return dataStep{reconcile.Replace, it, "the change of its entry means delete and create", changes}
	default:
		if changes, isKnown := w.alters(was.item, it); len(changes) > 0 || !isKnown {
			return dataStep{reconcile.Update, it, "its entry differs", changes}
		}
	}
	return dataStep{action: reconcile.None}
}

// alters returns what the data alone say that a change of an entry changes of its thing, if it is as base says. It
// is known only if a run of base makes it so, and if what may be done with the thing stays the same.
func (w *work) alters(base, head reconcile.Item) (changes []reconcile.Change, isKnown bool) {
	if w.Alters == nil {
		return nil, false
	}
	changes, isKnown = w.Alters(base, head)
	isSame := base.Policy == head.Policy && base.Claim == head.Claim && base.Protected == head.Protected &&
		base.Recover == head.Recover && base.Mistake == (reconcile.Mistake{})
	return changes, isKnown && isSame
}

// reportData reports what the data alone say where no target said it, and what nobody looked at. It
// counts the steps by their actions, and returns the number of entries that were not compared with what
// is there.
func (w *work) reportData(counts map[reconcile.Action]int) (unlooked int) {
	if w.env.Base == nil {
		return 0
	}
	pruned := w.pruned()
	for _, u := range w.units {
		if u.isLeft {
			continue
		}
		for _, gap := range w.gaps(u) {
			if gap.What != plan.UnlookedRemoved { // these are counted already
				unlooked += gap.Entries
			}
			w.env.Report(integration.Remark{Unlooked: &gap, Shard: u.part.Shard})
		}
		if !w.hasBase {
			continue
		}
		for _, s := range w.dataSteps(u, pruned) {
			if why := w.whyByData(u, s); why != "" {
				if u.plan == nil { // the steps of a plan are counted
					counts[s.action]++
				}
				w.announce(u, reconcile.Step{Key: s.item.Key, Action: s.action, Reason: s.reason, Place: s.item.Place,
					Item: &s.item, Changes: s.changes},
					plan.Effect{Since: plan.SinceChange, Known: plan.Known{How: plan.KnownData, Why: why}})
			}
		}
	}
	if w.hasBase && w.head.DeleteLeft && !w.base.DeleteLeft {
		w.env.Report(integration.Remark{Unlooked: &plan.Unlooked{What: plan.UnlookedRemoved, Code: string(codeLeft),
			Why: "the change lets a run delete the things of parts that left the data earlier, and nobody looked at them"}})
	}
	return unlooked
}

// whyByData says why a step is known by the data alone, "" if the target said what a run does. A thing
// that could not be read said nothing. A deletion that the data ask for counts unless the target shows that
// a run does not delete.
func (w *work) whyByData(u *unit, s dataStep) string {
	if u.plan == nil {
		return w.whyUnlooked(u)
	}
	i, isPlanned := slices.BinarySearchFunc(u.plan.Steps, s.item.Key, func(p reconcile.Step, k reconcile.Key) int {
		return cmp.Compare(p.Key, k)
	})
	var live reconcile.Step
	if isPlanned {
		live = u.plan.Steps[i]
	}
	_, isTold := effects[live.Action]
	isUnread := u.input.Unread[s.item.Key] != nil || len(u.input.Errors) > 0 && live.Thing == nil
	switch {
	case isUnread && !isTold:
		return "it could not be read"
	case u.partly[s.item.Key] != "" && !isTold:
		return u.partly[s.item.Key]
	case effects[s.action] == plan.EffectDelete && live.Action == reconcile.Blocked:
		return "it is blocked: " + live.Reason
	}
	return ""
}

// gaps returns what nobody looked at in a unit.
func (w *work) gaps(u *unit) []plan.Unlooked {
	gap := plan.Unlooked{Part: partName(u.part), What: plan.UnlookedDrift, Entries: len(u.part.Items) + len(u.removed)}
	switch {
	case u.part.Skip != "" || u.isGone && !w.head.DeleteLeft:
		return nil
	case u.plan != nil:
		gap.Entries = len(u.input.Unread) + len(u.input.Errors)
		gap.Code, gap.Why = string(reconcile.CodeIncomplete), "not everything could be read"
	case u.err != nil:
		gap.Code, gap.Why = string(codeTarget), w.whyUnlooked(u)
	default:
		gap.Code, gap.Why = string(codeUntrusted), w.whyUnlooked(u)
	}
	var out []plan.Unlooked
	if gap.Entries > 0 && !w.hasBase {
		gap.What = plan.UnlookedAll
		return []plan.Unlooked{gap}
	}
	if gap.Entries > 0 {
		out = append(out, gap)
	}
	if u.plan != nil && len(u.partly) > 0 {
		out = append(out, plan.Unlooked{Part: gap.Part, What: plan.UnlookedDrift, Entries: len(u.partly),
			Why: u.partly[slices.Min(slices.Collect(maps.Keys(u.partly)))]})
	}
	if n := w.left(u); n > 0 && u.plan == nil {
		gap.What, gap.Entries = plan.UnlookedRemoved, n
		out = append(out, gap)
	}
	return out
}

// whyUnlooked says why the target of a unit was not asked.
func (w *work) whyUnlooked(u *unit) string {
	switch {
	case u.err != nil:
		return u.err.Error()
	case w.isTold && w.hasBase:
		return errTold.Error()
	case u.isGone:
		return "nobody asks the target of a part that left the data"
	case !w.hasBase:
		return "the data of base cannot be read, so no target is asked"
	}
	return integration.ErrUntrusted.Error()
}

// left returns the number of things of a unit that a run may delete although no step of the data says
// so: those that base has at another target, those that base says to delete and head does not name, and
// those that nobody names of a part that base skips.
func (w *work) left(u *unit) (n int) {
	for _, it := range u.part.Items {
		was, isOld := w.change.before[it.Key]
		if isOld && was.part.Skip == "" && !was.isAt(entry{u.part, it}) {
			n++
		}
	}
	for _, it := range u.removed {
		if w.Class == reconcile.Knowing && !w.Prune && it.Delete {
			n++
		}
	}
	isSkipped := func(p Part) bool { return p.Skip != "" && p.name() == u.part.name() }
	if w.deletesUnnamed() && slices.ContainsFunc(w.base.Parts, isSkipped) {
		n++
	}
	return n
}

// deletesUnnamed reports whether a run deletes the things that no entry names any more.
func (w *work) deletesUnnamed() bool {
	return w.Class == reconcile.Listing || w.Class == reconcile.Knowing && w.Prune
}

// pruned returns the entries that the change removes and whose things a run deletes then.
func (w *work) pruned() map[reconcile.Key]bool {
	if !w.deletesUnnamed() {
		return nil
	}
	return w.dropped(func(p Part) bool { return p.Skip != "" })
}
