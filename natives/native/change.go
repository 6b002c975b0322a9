package native

import (
	"fmt"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// A change holds what base says about the entries of head.
type change struct {
	// same are the entries that base has in the same form at the same target. What is found at
	// their things was there without the change.
	same map[reconcile.Key]bool
	// removed are the entries that base has and head has nowhere.
	removed map[reconcile.Key]bool
	// before are the entries of base.
	before map[reconcile.Key]entry
}

// newChange compares the data of both sides.
func newChange(base, head Desired) change {
	c := change{map[reconcile.Key]bool{}, map[reconcile.Key]bool{}, map[reconcile.Key]entry{}}
	before := map[reconcile.Key]string{}
	base.eachItem(func(p Part, it reconcile.Item) {
		before[it.Key] = entryText(p, it)
		c.removed[it.Key], c.before[it.Key] = true, entry{p, it}
	})
	sameCallers := text(base.callers()) == text(head.callers())
	head.eachItem(func(p Part, it reconcile.Item) {
		delete(c.removed, it.Key)
		if text, ok := before[it.Key]; ok && sameCallers {
			c.same[it.Key] = text == entryText(p, it)
		}
	})
	return c
}

// entryText returns all that decides what is done with the thing of an entry.
func entryText(p Part, it reconcile.Item) string {
	p.Items = []reconcile.Item{it}
	return text(p.state())
}

// eachItem calls do for each entry.
func (d Desired) eachItem(do func(p Part, it reconcile.Item)) {
	for _, p := range d.Parts {
		for _, it := range p.Items {
			do(p, it)
		}
	}
}

// isOld reports whether the change did not cause a finding.
func (w *work) isOld(f reconcile.Finding) bool {
	if id := identity(f); w.old[id] > 0 {
		if len(f.Keys) == 0 { // the next one of head needs another one of base
			w.old[id]--
		}
		return true
	}
	isNew := func(k reconcile.Key) bool { return !w.change.same[k] }
	return w.hasBase && f.OfThing && len(f.Keys) > 0 && !slices.ContainsFunc(f.Keys, isNew)
}

// checkChange asks the gate about the deletions that the change itself asks for, in all parts.
// A merge request is checked shard by shard, and each shard may be within the limits although
// the run over all of them is not; and a target that is not asked has no gate of its own.
func (w *work) checkChange() {
	isUnasked := func(u *unit) bool { return !u.isAsked || u.err != nil }
	if !w.hasBase || w.env.Shard == "" && !slices.ContainsFunc(w.units, isUnasked) {
		return // the gate over all parts has decided
	}
	var d reconcile.Deletions
	deleting := map[reconcile.Key]bool{}
	w.base.eachItem(func(_ Part, it reconcile.Item) {
		if !it.Delete {
			d.Managed++
		} else {
			deleting[it.Key] = true
		}
	})
	asked := map[reconcile.Key]bool{}
	w.head.eachItem(func(_ Part, it reconcile.Item) {
		d.Desired++
		if it.Delete && !deleting[it.Key] {
			asked[it.Key] = true
		}
	})
	if w.deletesUnnamed() {
		maps.Copy(asked, w.dropped(func(p Part) bool { return p.Clear || p.Skip != "" }))
	}
	d.Keys = slices.Sorted(maps.Keys(asked))
	if refused := w.gate().Decide(d); refused.Code != "" {
		w.find(reconcile.Finding{Finding: plan.Finding{Code: refused.Code, Severity: plan.SeverityError,
			Message: fmt.Sprintf("the change asks for %d deletions in all shards: %s", len(d.Keys), refused.Reason)},
			Keys: refused.Keys})
	}
}

// home returns the part that an entry of the data belongs to, by its key: that of head, or else
// that of base. Other parts leave its thing alone, also if they see it.
func home(base, head Desired) map[reconcile.Key]string {
	out := map[reconcile.Key]string{}
	for _, d := range []Desired{base, head} {
		d.eachItem(func(p Part, it reconcile.Item) { out[it.Key] = p.name() })
	}
	return out
}

// dropped returns the entries that the change removes and whose things a run deletes then. Nobody
// looks at a part that leaves the data as a whole, unless what is left behind is deleted. Parts that are
// exempt do not count: one that is skipped deletes nothing, and of one that is cleared the data want it.
func (w *work) dropped(isExemptPart func(Part) bool) map[reconcile.Key]bool {
	stays, isExempt := map[string]bool{}, map[string]bool{}
	for _, p := range w.head.Parts {
		stays[p.name()], isExempt[p.name()] = true, isExemptPart(p)
	}
	out := map[reconcile.Key]bool{}
	w.base.eachItem(func(p Part, it reconcile.Item) {
		if w.change.removed[it.Key] && !isExempt[p.name()] && (stays[p.name()] || w.head.DeleteLeft) {
			out[it.Key] = true
		}
	})
	return out
}
