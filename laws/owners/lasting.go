package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/app-sre/prcheck/owners/approvals"
	"github.com/app-sre/prcheck/owners/coverage"
	"github.com/app-sre/prcheck/owners/decision"
	"github.com/app-sre/prcheck/owners/difference"
	"github.com/app-sre/prcheck/qontract/jsonpath"
)

// holdContent checks that an approval holds on another version exactly if the place has the same values on both sides.
func (w *world) holdContent() error {
	all := []grant{{selectors: []selector{{}}, people: []string{"p0"}}}
	files, err := w.cover(w.rules(all))
	if err != nil {
		return err
	}
	word := decision.Word{By: "p0", Command: decision.Approve, At: time.Unix(100, 0)}
	var book approvals.Book
	book.Enter(word, approvals.Version{Head: "1"}, files, nil)
	later := *w
	if w.IntN(2) == 0 {
		later.base = w.edited(w.base, 0)
	}
	later.head = w.edited(w.head, 0)
	again, err := later.cover(w.rules(all))
	if err != nil || again == nil {
		return err
	}
	d := decision.Decide(again, decision.Input{Words: []decision.Word{word}, Holds: book.Holds})
	for _, p := range d.Places {
		want := slices.ContainsFunc(files[0].Roots, func(old *coverage.CoveredPlace) bool {
			return w.isSame(&later, old.Difference, p.Difference)
		})
		if p.IsApproved != want {
			return fmt.Errorf("content: %s %s is approved: %v, want %v", p.Kind, p.Place(), p.IsApproved, want)
		}
	}
	return nil
}

// isSame reports whether two differences are about the same place, kind and values.
func (w *world) isSame(later *world, a, b difference.Difference) bool {
	isInBase := a.Kind == difference.Added || exact(a.Base, w.base) == exact(b.Base, later.base)
	isInHead := a.Kind == difference.Removed || exact(a.Head, w.head) == exact(b.Head, later.head)
	return a.Kind == b.Kind && isInBase && isInHead &&
		order(a.Kind, a.Old) == order(b.Kind, b.Old) && order(a.Kind, a.New) == order(b.Kind, b.New)
}

// exact writes a place with identities, and positions where items have none.
func exact(at jsonpath.Location, document any) string {
	out := ""
	for i, step := range at {
		text := general(at[:i+1], document)
		if step.IsItem && text[len(text)-1] == ']' {
			text = step.String()
		}
		out += "/" + text
	}
	return out
}

// order returns what counts of a value: of a list that is reordered the order of its items.
func order(kind difference.Kind, v any) string {
	list, isList := v.([]any)
	if kind != difference.Reordered || !isList {
		return difference.Canonical(v)
	}
	out := ""
	for _, item := range list {
		if id := general(jsonpath.Location{jsonpath.Item(0)}, []any{item}); id != "[]" {
			out += id
		} else {
			out += difference.Canonical(item) + ";"
		}
	}
	return out
}
