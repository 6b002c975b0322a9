package native

import (
	"cmp"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

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
	action reconcile.Action
	item   reconcile.Item
	reason string
}

// dataSteps returns what the data alone say of the things of a unit. Of the entries that are gone, a run
// deletes the things of those that are pruned.
func (w *work) dataSteps(u *unit, pruned map[reconcile.Key]bool) []dataStep {
	var out []dataStep
	for _, it := range u.part.Items {
		if s := w.dataStep(entry{u.part, it}); s.action != reconcile.None {
			out = append(out, s)
		}
	}
	for _, it := range u.removed {
		if pruned[it.Key] && it.Policy == reconcile.Manage && !w.change.before[it.Key].deletes() {
			out = append(out, dataStep{reconcile.Remove, it, "the change removes its entry"})
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
		return dataStep{reconcile.Remove, it, "its entry says that it is deleted"}
	case it.Delete || isOld && was.text() == now.text():
	case !isOld || was.deletes():
		return dataStep{reconcile.Create, it, "its entry is new"}
	case w.Replaces != nil && w.Replaces(was.item, it):
		return dataStep{reconcile.Replace, it, "the change of its entry means delete and create"}
	default:
		return dataStep{reconcile.Update, it, "its entry differs"}
	}
	return dataStep{action: reconcile.None}
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
				w.announce(u, reconcile.Step{Key: s.item.Key, Action: s.action, Reason: s.reason, Place: s.item.Place},
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
