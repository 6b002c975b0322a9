package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/owners/difference"
	"github.com/app-sre/prcheck/qontract/jsonpath"
)

// A leaf is a value without values in it, at a place.
type leaf struct {
	at    jsonpath.Location
	value any
}

// leaves walks a value and returns its leaves: what is no object and no list, and the empty ones of both.
func leaves(at jsonpath.Location, v any) (out []leaf) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name != "__identifier" {
				out = append(out, leaves(at.Below(jsonpath.Member(name)), v[name])...)
			}
		}
	case []any:
		for i, item := range v {
			out = append(out, leaves(at.Below(jsonpath.Item(i)), item)...)
		}
	}
	if out == nil {
		return []leaf{{at, v}}
	}
	return out
}

// general writes a place with the identity of items, or nothing where an item has none, in the place of positions.
func general(at jsonpath.Location, document any) string {
	var out []string
	for i, step := range at {
		text := step.Name
		if step.IsItem {
			item, _ := at[:i+1].At(document)
			o, _ := item.(map[string]any)
			text = "[]"
			if id, isText := o["__identifier"].(string); isText {
				text = "{" + id + "}"
			} else if to, isText := o["$ref"].(string); isText && len(o) == 1 {
				text = "<" + to + ">"
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, "/")
}

// count counts leaves by their general places and values.
func count(document any, all []leaf) map[string]int {
	out := map[string]int{}
	for _, l := range all {
		out[general(l.at, document)+fmt.Sprintf(" %T %v", l.value, l.value)]++
	}
	return out
}

// holdComplete checks that what is the same on both sides without what differs is the same on both sides, and that
// nothing differs that is the same.
func (w *world) holdComplete(found []difference.Difference) error {
	var old, new []leaf
	for _, d := range found {
		if d.Kind == difference.Changed || d.Kind == difference.Removed {
			old = append(old, leaves(d.Base, d.Old)...)
		}
		if d.Kind == difference.Changed || d.Kind == difference.Added {
			new = append(new, leaves(d.Head, d.New)...)
		}
		if d.Kind == difference.Changed && difference.Canonical(d.Old) == difference.Canonical(d.New) {
			return fmt.Errorf("complete: %s does not differ", d.Place())
		}
		if v, isThere := d.Base.At(w.base); d.Kind == difference.Changed &&
			(!isThere || difference.Canonical(v) != difference.Canonical(d.Old)) {
			return fmt.Errorf("complete: base has another value at %s", d.Base)
		}
	}
	base, head := count(w.base, leaves(nil, w.base)), count(w.head, leaves(nil, w.head))
	for key, n := range count(w.base, old) {
		if base[key] -= n; base[key] < 0 {
			return fmt.Errorf("complete: %s differs more often than base has it", key)
		}
	}
	for key, n := range count(w.head, new) {
		if head[key] -= n; head[key] < 0 {
			return fmt.Errorf("complete: %s differs more often than head has it", key)
		}
	}
	for key, n := range base {
		base[key], head[key] = n-min(n, head[key]), head[key]-min(n, head[key])
	}
	emptied(base, w.head)
	emptied(head, w.base)
	if len(base)+len(head) > 0 {
		return fmt.Errorf("complete: what does not differ has %v more in base and %v more in head", base, head)
	}
	return nil
}

// emptied leaves out counts of zero, and empty objects and lists that hold something on the other side: what they hold
// differs, and not they themselves.
func emptied(counts map[string]int, other any) {
	var there []string
	for _, l := range leaves(nil, other) {
		for n := range l.at {
			v, _ := l.at[:n].At(other)
			there = append(there, general(l.at[:n], other)+fmt.Sprintf(" %T", v))
		}
	}
	maps.DeleteFunc(counts, func(key string, n int) bool {
		at, isObject := strings.CutSuffix(key, " map[]")
		if !isObject {
			at = strings.TrimSuffix(key, " []")
		}
		return n == 0 || at != key && slices.Contains(there, at)
	})
}

// holdFine checks that no difference is coarser than it must be: an object never changes into an object, and no item
// into one of another identity.
func holdFine(found []difference.Difference) error {
	for _, d := range found {
		o, wasObject := d.Old.(map[string]any)
		n, isObject := d.New.(map[string]any)
		if d.Kind != difference.Changed || !wasObject || !isObject {
			continue
		}
		if (o["__identifier"] == nil && o["$ref"] == nil) == (n["__identifier"] == nil && n["$ref"] == nil) {
			return fmt.Errorf("complete: %s is coarser than it must be", d.Place())
		}
	}
	return nil
}

// holdOrder checks the lists of items with identities that stand at the same place on both sides.
func (w *world) holdOrder(found []difference.Difference) error {
	told := map[string]bool{}
	for _, d := range found {
		if d.Kind == difference.Reordered {
			told[d.Base.String()+" "+d.Head.String()] = true
		}
	}
	var walk func(base, head jsonpath.Location, old, new any) error
	walk = func(base, head jsonpath.Location, old, new any) error {
		o, wasObject := old.(map[string]any)
		n, isObject := new.(map[string]any)
		if wasObject && isObject {
			for name := range o {
				if v, isThere := n[name]; isThere {
					if err := walk(base.Below(jsonpath.Member(name)), head.Below(jsonpath.Member(name)), o[name], v); err != nil {
						return err
					}
				}
			}
			return nil
		}
		was, ok := ids(old)
		is, both := ids(new)
		if !ok || !both {
			return nil
		}
		isIn := func(of []string) func(string) bool { return func(id string) bool { return !slices.Contains(of, id) } }
		same := slices.Equal(slices.DeleteFunc(slices.Clone(was), isIn(is)), slices.DeleteFunc(slices.Clone(is), isIn(was)))
		if at := base.String() + " " + head.String(); same == told[at] {
			return fmt.Errorf("order: %s has the same order: %v, and is told as reordered: %v", at, same, told[at])
		}
		return nil
	}
	return walk(nil, nil, w.base, w.head)
}

// ids returns the identities of the items of a list, if all have one of their own.
func ids(v any) (out []string, ok bool) {
	list, isList := v.([]any)
	for _, item := range list {
		o, _ := item.(map[string]any)
		id, isText := o["__identifier"].(string)
		if !isText {
			id, isText = o["$ref"].(string)
		}
		if !isText || slices.Contains(out, id) {
			return nil, false
		}
		out = append(out, id)
	}
	return out, isList
}
