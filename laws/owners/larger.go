package main

import (
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/owners/difference"
)

// holdLarger checks that a change with more in it lets nobody approve more: a difference that both have is approved by
// nobody else, and whoever may approve all of the larger change may approve all of the smaller one, if the larger has
// all of it. A position from the end says itself that what it allows depends on how long the list is; such worlds are
// left out.
func (w *world) holdLarger() error {
	if slices.ContainsFunc(w.grants, func(g grant) bool { return slices.ContainsFunc(g.selectors, isFromEnd) }) {
		return nil
	}
	larger := *w
	larger.head = w.edited(w.head, 0)
	smallFiles, err := w.cover(w.rules(w.grants))
	if err != nil || smallFiles == nil {
		return err
	}
	largeFiles, err := larger.cover(w.rules(w.grants))
	if err != nil || largeFiles == nil {
		return err
	}
	small := map[string][]string{}
	for _, p := range smallFiles[0].Roots {
		small[known(p.Difference)] = peopleOf(p)
	}
	var forAll []string // who may approve all of the larger change
	for i, p := range largeFiles[0].Roots {
		people := peopleOf(p)
		if i == 0 {
			forAll = people
		}
		forAll = slices.DeleteFunc(slices.Clone(forAll), func(name string) bool { return !slices.Contains(people, name) })
		before, isThere := small[known(p.Difference)]
		for _, name := range people {
			if isThere && !slices.Contains(before, name) {
				return fmt.Errorf("larger: %s may approve %s %s only as a part of a larger change", name, p.Kind, p.Place())
			}
		}
		delete(small, known(p.Difference))
	}
	if len(small) > 0 {
		return nil
	}
	for _, p := range smallFiles[0].Roots {
		for _, name := range forAll {
			if !slices.Contains(peopleOf(p), name) {
				return fmt.Errorf("larger: %s may approve all of a larger change, and not %s %s", name, p.Kind, p.Place())
			}
		}
	}
	return nil
}

func isFromEnd(s selector) bool {
	return slices.ContainsFunc(s, func(p part) bool { return p.item < 0 })
}

// known returns a text for a difference, by which it is known again in a larger change.
func known(d difference.Difference) string {
	return fmt.Sprint(d.Kind, d.Base, d.Head, difference.Canonical([]any{d.Old, d.New}))
}
