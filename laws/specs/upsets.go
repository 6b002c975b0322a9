package main

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
)

// drift changes a value of each at the service, perhaps one that cannot be changed. Nothing is deleted for it.
func (l *lab) drift(ctx context.Context) error {
	before, stuck := map[int]object{}, l.stuck()
	l.each(func(i int, k *kind) { l.put(i, k, l.bodies[i], l.makers[i].secrets, true) })
	l.each(func(i int, k *kind) {
		t, all := l.service.things[strings.ToLower(k.id)], l.makers[i].leaves
		if stuck[i] {
			all = l.makers[i].fixed
		}
		if t == nil || len(all) == 0 {
			return
		}
		f := all[l.makers[i].draw("drift", uint64(len(all)))]
		is := at(t.store, f.at)
		if to := f.another(is); is != nil && to != nil {
			before[i] = t.store
			t.store, t.version = with(t.store, f.at, to), t.version+1
		}
	})
	if err := l.run(ctx); err != nil {
		return err
	}
	for _, w := range l.service.writes {
		if id, isDelete := strings.CutPrefix(w, "DELETE "); isDelete {
			i := slices.IndexFunc(l.kinds, func(k *kind) bool { return strings.EqualFold(k.id, id) })
			l.broken(harmless, i, "drift deleted it")
		}
	}
	for i, store := range before { // what could not be mended
		if t := l.service.things[strings.ToLower(l.kinds[i].id)]; t != nil {
			t.store, t.version = store, t.version+1
		}
	}
	l.each(func(i int, k *kind) {
		l.whole(i, "after drift")
		l.put(i, k, l.bodies[i], l.makers[i].secrets, false)
	})
	return l.calm(ctx, "after drift")
}

// stuck chooses some kinds of which a value drifts that cannot be changed: with more of them the gate on deletions, and
// not the plan, would keep them.
func (l *lab) stuck() map[int]bool {
	const some = 3
	var all []int
	l.each(func(i int, _ *kind) {
		if len(l.makers[i].fixed) > 0 {
			all = append(all, i)
		}
	})
	slices.SortFunc(all, func(a, b int) int {
		return cmp.Compare(l.makers[a].draw("stuck", 1000), l.makers[b].draw("stuck", 1000))
	})
	out := map[int]bool{}
	for _, i := range all[:min(len(all), some)] {
		out[i] = true
	}
	return out
}

// fail lets all operations fail. Each resource is red until the service says that one succeeded.
func (l *lab) fail(ctx context.Context) error {
	l.service.failing = true
	changed := map[int]bool{}
	l.each(func(i int, k *kind) { changed[i] = l.edit(i, k, 1) })
	for _, when := range []string{"at once", "in the second run", "in the third run"} {
		if err := l.run(ctx); err != nil {
			return err
		}
		l.each(func(i int, k *kind) {
			if changed[i] && l.why(i, k) == "" {
				l.broken(failedIsRed, i, "it failed, and is green %s", when)
			}
		})
		if l.err == nil && len(l.red) == 0 && len(changed) > 0 {
			l.broken(failedIsRed, 0, "the run is green %s", when)
		}
	}
	l.service.failing = false
	if err := l.sleep(ctx, hour); err != nil {
		return err
	}
	if err := l.run(ctx); err != nil {
		return err
	}
	l.each(func(i int, k *kind) {
		if why := l.why(i, k); why != "" {
			l.broken(failedIsRed, i, "it succeeded, and is red: %s", why)
		}
		l.whole(i, "after it failed")
	})
	return l.calm(ctx, "after it failed")
}

// tell checks changes without the service: what it refuses is an error, and what it takes is none.
func (l *lab) tell(ctx context.Context) error {
	base := l.copied()
	l.each(func(i int, k *kind) { base.put(i, k, l.bodies[i], l.makers[i].secrets, false) })
	type change struct {
		what    string
		edit    func(i int, k *kind) (object, bool)
		refused bool
	}
	for _, c := range []change{
		{"a create-only value", l.anotherFixed, true},
		{"a read-only value", l.setReadOnly, true},
		{"an unknown member", func(i int, k *kind) (object, bool) {
			return with(l.bodies[i], []string{"zzUnknown"}, "x"), k.put.part("additionalProperties").all == nil
		}, true},
		{"a value that can be changed", l.anotherLeaf, false},
	} {
		head := base.copied()
		edited := map[int]bool{}
		l.each(func(i int, k *kind) {
			if body, ok := c.edit(i, k); ok {
				edited[i] = true
				head.put(i, k, body, l.makers[i].secrets, false)
			}
		})
		found, err := findings(ctx, base, head)
		if err != nil {
			return err
		}
		l.each(func(i int, _ *kind) {
			switch all := found[fileOf(i)]; {
			case edited[i] && c.refused && len(all) == 0:
				l.broken(toldBefore, i, "%s is not told", c.what)
			case edited[i] && !c.refused && len(all) > 0:
				l.broken(toldBefore, i, "%s is an error: %s %s: %s", c.what, all[0].Code, all[0].Pointer, all[0].Message)
			}
		})
	}
	return nil
}

// copied returns a scene with the same data, which nobody runs.
func (s *scene) copied() *scene {
	return &scene{world: s.world.Clone(), secrets: maps.Clone(s.secrets)}
}

func (l *lab) anotherFixed(i int, _ *kind) (object, bool) {
	for _, f := range l.makers[i].fixed {
		if is := at(l.bodies[i], f.at); is != nil {
			if to := f.another(is); to != nil && plain(to) != plain(is) {
				return with(l.bodies[i], f.at, to), true
			}
		}
	}
	return nil, false
}

func (l *lab) anotherLeaf(i int, _ *kind) (object, bool) {
	for j := range l.makers[i].leaves {
		f := l.makers[i].leaves[len(l.makers[i].leaves)-1-j]
		if is := at(l.bodies[i], f.at); is != nil {
			if to := f.another(is); to != nil {
				return with(l.bodies[i], f.at, to), true
			}
		}
	}
	return nil, false
}

// setReadOnly sets a text that the service fills in.
func (l *lab) setReadOnly(i int, k *kind) (object, bool) {
	around := k.root()
	for _, path := range [][]string{nil, {"properties"}} {
		s := around
		for _, name := range path {
			s = k.member(s, name)
		}
		for _, name := range s.put.names() {
			if of := k.member(s, name); of.trait.readOnly && of.put.kind() == "string" && name != "name" && name != "type" &&
				name != "id" {
				return with(l.bodies[i], append(slices.Clone(path), name), "x"), true
			}
		}
	}
	return nil, false
}
