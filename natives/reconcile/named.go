package reconcile

import (
	"cmp"
	"fmt"

	"github.com/app-sre/prcheck/plan"
)

// planItem adds the step for an entry of the data.
func (m *maker) planItem(it *Item) {
	at, isThere := m.current[it.Key]
	var thing Thing
	if isThere {
		thing = *at
	}
	last, known := m.in.Known[it.Key]
	if it.Mistake != (Mistake{}) {
		m.fail(it, it.Mistake.Code, it.Mistake.Message, "")
		return
	}
	if err := m.in.Unread[it.Key]; err != nil {
		m.fail(it, CodeIncomplete, "it could not be read: "+err.Error(), "")
		return
	}
	wish := Wish{Known: known, Desired: !it.Delete, Claim: it.Claim}
	if reason, kept := m.in.Kept[it.Key]; kept {
		m.step(Step{Key: it.Key, Action: None, Code: CodeKept, Reason: reason, Item: it, Thing: at})
		m.find(Finding{Finding: plan.Finding{Code: CodeKept, Severity: plan.SeverityNote, Place: it.Place,
			Message: "it stays as it is: " + reason}, Keys: []Key{it.Key}})
		return
	}
	switch {
	case it.Policy == Observe:
		m.observe(it, at, wish)
	case it.Delete && !isThere:
		m.planGone(it, known)
	case it.Delete && thing.SoftDeleted:
		m.step(Step{Key: it.Key, Action: None, Reason: "it is deleted, and the system still keeps it", Item: it,
			Thing: &thing})
	case it.Delete:
		m.planRemoval(it, thing, wish)
	case !isThere:
		m.step(Step{Key: it.Key, Action: Create, Owner: Us, Reason: "it is not there", Item: it, wish: wish})
	case thing.SoftDeleted && it.Recover:
		m.step(Step{Key: it.Key, Action: Undelete, Owner: Us, Reason: "it was deleted and can be brought back", Item: it,
			Thing: &thing, wish: wish})
	case thing.SoftDeleted:
		m.fail(it, CodeSoftDeleted, "it was deleted, and the system still keeps it: recover it, or wait until it is gone", "")
	default:
		m.planChange(it, thing, last, wish)
	}
}

// observe plans an entry whose thing is never written, whoever it belongs to. The thing is nil if it is not there.
func (m *maker) observe(it *Item, thing *Thing, wish Wish) {
	if it.Delete {
		m.fail(it, CodePolicy, "its policy is observe, so it cannot be deleted", "")
		return
	}
	s := Step{Key: it.Key, Action: None, Reason: "its policy is observe", Item: it}
	if thing == nil {
		s.Reason += ", and it is not there"
	} else {
		s.Owner = m.judge(m.markOf(*thing), wish).Owner
	}
	m.step(s)
}

// planGone plans an entry that says delete and whose thing is gone.
func (m *maker) planGone(it *Item, known bool) {
	action := None
	if known {
		action = Forget
	}
	m.finished = append(m.finished, it.Key)
	m.step(Step{Key: it.Key, Action: action, Reason: "already deleted: the entry can be removed", Item: it})
	m.find(Finding{Finding: plan.Finding{Severity: plan.SeverityNote, Place: it.Place,
		Message: "it is deleted: the entry can be removed"}, Keys: []Key{it.Key}})
}

// planRemoval plans an entry that says delete and whose thing is there.
func (m *maker) planRemoval(it *Item, thing Thing, wish Wish) {
	v := m.judge(m.markOf(thing), wish)
	wanted := m.judge(m.markOf(thing), Wish{Known: wish.Known, Desired: true})
	switch {
	case v.Act && it.Policy == Detach:
		m.step(Step{Key: it.Key, Action: Forget, Owner: v.Owner, Reason: "its policy leaves the thing alone", Item: it,
			Thing: &thing})
	case v.Act && it.Protected:
		m.fail(it, CodeProtected, "the entry says protected: take that out in a change of its own", v.Owner)
	case v.Act && thing.Protected:
		m.fail(it, CodeProtected, thing.protection(), v.Owner)
	case v.Act:
		m.step(Step{Key: it.Key, Action: Remove, Owner: v.Owner, Reason: "the entry says delete", Item: it, Thing: &thing,
			wish: wish})
	case v.Owner == RetiredCaller, v.Owner == OtherVersion && wanted.Act:
		m.step(Step{Key: it.Key, Action: MarkIt, Owner: v.Owner, Reason: takingReason(wanted, m.markOf(thing)) +
			"; the next run deletes it",
			Item: it, Thing: &thing, mark: true, wish: Wish{Known: wish.Known, Desired: true}})
	default:
		m.fail(it, cmp.Or(wanted.Code, CodeOwnedByOther), "it belongs to "+m.describe(v.Owner, thing), v.Owner)
	}
}

// planChange plans an entry whose thing is there.
func (m *maker) planChange(it *Item, thing Thing, last Record, wish Wish) {
	v := m.judge(m.markOf(thing), wish)
	if !v.Act {
		m.planForeign(it, thing, v)
		return
	}
	d, err := m.in.Compare(*it, thing, last)
	if err != nil {
		m.fail(it, CodeCompare, "it cannot be compared: "+err.Error(), v.Owner)
		return
	}
	if d.Mistake != (Mistake{}) {
		m.fail(it, d.Mistake.Code, d.Mistake.Message, v.Owner)
		m.steps[it.Key].Changes, m.steps[it.Key].Thing = d.Changes, &thing
		return
	}
	s := Step{Key: it.Key, Action: None, Owner: v.Owner, Reason: "nothing differs", Changes: d.Changes, Item: it,
		Thing: &thing,
		mark:  v.Mark && !thing.Unmarkable && !(last.Unmarked && v.Owner == Us), learn: !wish.Known && m.in.Class == Knowing,
		wish: wish}
	isTaken := v.Owner != Us
	switch {
	case d.Replace && isTaken:
		s.Action, s.Reason, s.Changes = takingAction(v), "it is taken now; the next run replaces it", nil
	case d.Replace && (it.Protected || thing.Protected):
		m.fail(it, CodeProtected, "it would have to be replaced, and it is protected", v.Owner)
		return
	case d.Replace:
		s.Action, s.Reason = Replace, "it cannot be changed, only replaced"
	case len(d.Changes) > 0:
		s.Action, s.Reason = Update, "it differs"
	case s.mark:
		s.Action, s.Reason = takingAction(v), takingReason(v, m.markOf(thing))
	}
	m.step(s)
	for _, text := range d.Warnings {
		m.find(Finding{Finding: plan.Finding{Severity: plan.SeverityWarning, Place: it.Place, Message: text},
			Keys: []Key{it.Key}, OfThing: true})
	}
	if isTaken {
		m.find(Finding{Finding: plan.Finding{Severity: plan.SeverityWarning, Place: it.Place,
			Message: takingReason(v, m.markOf(thing))}, Keys: []Key{it.Key}})
	}
}

func takingAction(v Verdict) Action {
	if v.Owner == Nobody {
		return AdoptIt
	}
	return MarkIt
}

// takingReason says why a thing gets our mark.
func takingReason(v Verdict, m Mark) string {
	switch v.Owner {
	case Us:
		return "it lost our mark"
	case Nobody:
		return "the settings allow to adopt it"
	case RetiredCaller:
		return fmt.Sprintf("caller %q is gone: it is taken over", m.Caller)
	case OtherVersion:
		return fmt.Sprintf("it is taken over from version %q of the integration and its caller %q", m.Version, m.Caller)
	case OtherCaller:
		return fmt.Sprintf("the settings allow to take it over from caller %q", m.Caller)
	default:
		return fmt.Sprintf("the settings allow to take it over from integration %q", m.Integration)
	}
}

// planForeign plans an entry whose thing is not ours.
func (m *maker) planForeign(it *Item, thing Thing, v Verdict) {
	if v.Code != "" {
		m.fail(it, v.Code, "it belongs to "+m.describeFor(it, v.Owner, thing), v.Owner)
		return
	}
	m.step(Step{Key: it.Key, Action: Skip, Owner: v.Owner, Reason: "it belongs to " + m.describe(v.Owner, thing), Item: it,
		Thing: &thing})
}

// describeFor names the owner of the thing of an item.
func (m *maker) describeFor(it *Item, owner Whose, thing Thing) string {
	if owner == Nobody && it.HowToAdopt != "" {
		return "nobody: " + it.HowToAdopt
	}
	return m.describe(owner, thing)
}

// describe names the owner of a thing.
func (m *maker) describe(owner Whose, thing Thing) string {
	mark := m.markOf(thing)
	switch owner {
	case Nobody:
		return "nobody: adopt it first"
	case OtherIntegration:
		return fmt.Sprintf("integration %q", mark.Integration)
	case OtherVersion:
		return fmt.Sprintf("another version of the integration, %q, and its caller %q: take it over with reconciler "+
			"take-over %s", mark.Version, mark.Caller, mark.Integration)
	default:
		return fmt.Sprintf("caller %q", mark.Caller)
	}
}
