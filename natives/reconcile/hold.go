package reconcile

import (
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/plan"
)

// holdCycles blocks items that wait for each other.
func (m *maker) holdCycles(desired []Item) {
	g, items := graph{}, map[Key]*Item{}
	for i := range desired {
		if len(desired[i].Needs)+len(desired[i].After) == 0 {
			continue // it can be in no circle
		}
		g[desired[i].Key], items[desired[i].Key] = distinct(desired[i].before()), &desired[i]
	}
	for _, circle := range g.cycles() {
		reason := fmt.Sprintf("%d entries wait for each other in a circle, from %q to %q", len(circle), circle[0],
			circle[len(circle)-1])
		for _, k := range circle {
			m.block(items[k], CodeCycle, reason, "")
		}
		m.find(Finding{Finding: plan.Finding{Code: CodeCycle, Severity: plan.SeverityError, Place: items[circle[0]].Place,
			Message: reason}, Keys: circle})
	}
}

// holdParents blocks the deletion of things that others need which stay. A blocked deletion
// stays as well, so what it needs is looked at again.
func (m *maker) holdParents() {
	queue := m.keysOf(func(s *Step) bool { return s.Action == Remove })
	if len(queue) == 0 {
		return
	}
	users := m.users()
	for len(queue) > 0 {
		k := queue[0]
		queue = queue[1:]
		s, planned := m.steps[k]
		if !planned || s.Action != Remove {
			continue
		}
		i := slices.IndexFunc(users[k], m.stays)
		if i < 0 {
			continue
		}
		s.Action, s.Code, s.Reason = Blocked, CodeDeleteWithChild, fmt.Sprintf("%q needs it and stays", users[k][i])
		m.find(Finding{Finding: plan.Finding{Code: CodeDeleteWithChild, Severity: plan.SeverityError, Place: s.Place,
			Message: fmt.Sprintf("it must go, but %q needs it and stays", users[k][i])}, Keys: []Key{k, users[k][i]}})
		queue = slices.Concat(queue, s.Needs, []Key{s.Thing.Parent})
	}
}

// users returns, by key, what is known to need a thing: entries, and things below it.
func (m *maker) users() map[Key][]Key {
	out := map[Key][]Key{}
	for _, it := range m.in.Desired {
		for _, n := range distinct(it.Needs) {
			out[n] = append(out[n], it.Key)
		}
	}
	for _, t := range m.in.Current {
		if t.Parent != "" {
			out[t.Parent] = append(out[t.Parent], t.Key)
		}
	}
	for k := range out {
		out[k] = distinct(out[k])
	}
	return out
}

// stays reports whether a thing is still there, or made, after the plan.
func (m *maker) stays(k Key) bool {
	s, planned := m.steps[k]
	if !planned {
		_, isThere := m.current[k]
		return isThere
	}
	return s.Action != Remove && (s.Thing != nil || s.Action.Writes() || s.Action == Blocked && !s.Item.goes())
}

// goes reports whether the entry says delete.
func (it *Item) goes() bool { return it != nil && it.Delete }

// holdUsers blocks steps whose needs are blocked and not there.
func (m *maker) holdUsers() {
	isMissing := func(s *Step) bool { return s.Action == Blocked && s.Thing == nil && !m.isThere(s.Key) }
	queue := m.keysOf(isMissing)
	if len(queue) == 0 {
		return
	}
	users := graph{}
	for k, s := range m.steps {
		for _, n := range s.Needs {
			users[n] = append(users[n], k)
		}
	}
	for len(queue) > 0 {
		need := queue[0]
		queue = queue[1:]
		slices.Sort(users[need])
		for _, k := range users[need] {
			s := m.steps[k]
			if !s.Action.Writes() || s.Action == Remove {
				continue
			}
			s.Action, s.Code, s.Reason = Blocked, m.steps[need].Code, fmt.Sprintf("not run: it needs %q, which is blocked", need)
			if isMissing(s) {
				queue = append(queue, k)
			}
		}
	}
}

func (m *maker) isThere(k Key) bool {
	_, ok := m.current[k]
	return ok
}

// setWaves numbers the steps that do something: first what is made and changed, then what is
// deleted, each after what it needs.
func (m *maker) setWaves() {
	applies, removals := graph{}, graph{}
	for k, s := range m.steps {
		switch {
		case s.Action == Remove:
			removals[k] = s.Needs
			if s.Thing != nil {
				removals[k] = slices.Concat(s.Needs, s.Thing.Needs, []Key{s.Thing.Parent})
			}
		case s.Code == CodeCycle: // nothing can come after a circle; what names it goes on without it
		case s.Item != nil && !s.Item.Delete && (s.Action.Writes() || len(s.Needs)+len(s.After) > 0):
			applies[k] = s.Item.before()
		}
	}
	number := 0
	for _, wave := range slices.Concat(applies.waves(), removals.reversed().waves()) {
		isUsed := false
		for _, k := range wave {
			if m.steps[k].Action.Writes() {
				m.steps[k].Wave, isUsed = number+1, true
			}
		}
		if isUsed {
			number++
		}
	}
	for _, s := range m.steps {
		if s.Action == MarkIt && s.Wave == 0 { // of an entry that says delete
			s.Wave = 1
		}
	}
}
