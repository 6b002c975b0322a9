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
