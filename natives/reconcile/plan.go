package reconcile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

// Make returns the plan. It does not change its input, and asks nobody.
func Make(in Input) *Plan {
	n := max(len(in.Desired), len(in.Current))
	m := &maker{in: in, current: make(map[Key]*Thing, n), named: make(map[Key]bool, n), steps: make(map[Key]*Step, n)}
	for i := range in.Current {
		m.current[in.Current[i].Key] = &in.Current[i]
	}
	for _, it := range in.Desired {
		m.named[it.Key] = true
	}
	m.findings = in.Gate.findings()
	desired := m.withoutDuplicates()
	for i := range desired {
		m.planItem(&desired[i])
	}
	m.planUnnamed()
	m.holdCycles(desired)
	m.holdParents()
	m.passGate()
	m.holdParents()
	m.holdUsers()
	m.warnOfRemoved()
	m.setWaves()
	return m.plan()
}

// plan returns the plan, sorted.
func (m *maker) plan() *Plan {
	out := &Plan{Owner: m.in.Owner, Steps: make([]Step, 0, len(m.steps)), Findings: m.findings, Deletions: m.gate,
		Refused: m.refused, Finished: m.finished, rules: m.in.rulesOrDefault()}
	for _, k := range slices.Sorted(maps.Keys(m.steps)) {
		out.Steps = append(out.Steps, *m.steps[k])
	}
	worst := plan.Severities()
	slices.SortStableFunc(out.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(worst, a.Severity), slices.Index(worst, b.Severity)),
			slices.Compare(a.Keys, b.Keys), cmp.Compare(a.Code, b.Code))
	})
	return out
}

// A maker makes one plan.
type maker struct {
	in       Input
	current  map[Key]*Thing
	named    map[Key]bool // keys of all entries, duplicates included
	steps    map[Key]*Step
	findings []Finding
	finished []Key
	gate     Deletions
	refused  Refusal
}

// fold returns the text by which keys are the same.
func (m *maker) fold(k Key) Key {
	if m.in.FoldCase {
		return Key(strings.ToLower(string(k)))
	}
	return k
}

// withoutDuplicates returns the items in key order. Items that have one key are held.
func (m *maker) withoutDuplicates() []Item {
	sorted := slices.Clone(m.in.Desired)
	slices.SortStableFunc(sorted, func(a, b Item) int { return cmp.Compare(m.fold(a.Key), m.fold(b.Key)) })
	out := make([]Item, 0, len(sorted))
	for len(sorted) > 0 {
		n := 1
		for n < len(sorted) && m.fold(sorted[n].Key) == m.fold(sorted[0].Key) {
			n++
		}
		same := sorted[:n]
		sorted = sorted[n:]
		if n == 1 {
			out = append(out, same[0])
			continue
		}
		var keys []Key
		for _, it := range same {
			keys = append(keys, it.Key)
		}
		slices.Sort(keys)
		reason := fmt.Sprintf("%d entries have this key%s", len(same), describeFiles(same))
		for i := range same {
			m.block(&same[i], CodeDuplicate, reason, "")
		}
		m.find(Finding{Finding: plan.Finding{Code: CodeDuplicate, Severity: plan.SeverityError, Place: same[0].Place,
			Message: reason}, Keys: slices.Compact(keys)})
	}
	return out
}

// maxFiles is how many files a message names.
const maxFiles = 3

// describeFiles names the files of entries in a message, if there are several.
func describeFiles(items []Item) string {
	var files []string
	for _, it := range items {
		files = append(files, it.Place.File)
	}
	slices.Sort(files)
	files = slices.Compact(files)
	switch {
	case len(files) < 2:
		return ""
	case len(files) > maxFiles:
		files = append(files[:maxFiles:maxFiles], fmt.Sprintf("and %d more", len(files)-maxFiles))
	}
	return ": " + strings.Join(files, ", ")
}

// step adds a step. A later step of the same key replaces an earlier one.
func (m *maker) step(s Step) *Step {
	if s.Item != nil {
		s.Place, s.Needs, s.After = s.Item.Place, distinct(s.Item.Needs), distinct(s.Item.After)
	}
	m.steps[s.Key] = &s
	return &s
}

// block adds a step that may not be done.
func (m *maker) block(it *Item, code plan.FindingCode, reason string, owner Whose) {
	m.step(Step{Key: it.Key, Action: Blocked, Code: code, Reason: reason, Owner: owner, Item: it,
		Thing: m.current[it.Key]})
}

// fail adds a step that may not be done, and tells people.
func (m *maker) fail(it *Item, code plan.FindingCode, reason string, owner Whose) {
	m.block(it, code, reason, owner)
	m.find(Finding{Finding: plan.Finding{Code: code, Severity: plan.SeverityError, Place: it.Place, Message: reason},
		Keys: []Key{it.Key}, OfThing: code != CodeIncomplete})
}

func (m *maker) find(f Finding) { m.findings = append(m.findings, f) }

// judge says whether a thing with this mark may be touched.
func (m *maker) judge(mark Mark, w Wish) Verdict {
	return m.in.rulesOrDefault().judge(m.in.Owner, mark, w)
}

// markOf returns the mark that counts for a thing: its own, or that of the nearest parent that
// can have one.
func (m *maker) markOf(t Thing) Mark {
	for range m.current {
		if !t.Unmarkable {
			break
		}
		parent, ok := m.current[t.Parent]
		if !ok {
			break
		}
		t = *parent
	}
	return t.Mark
}

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
