package render

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// The limits of what people are shown.
const (
	maxShown   = 120 // bytes of a value
	maxChanges = 50  // changes of one object
)

// An ObjectChange is an object that two outputs do not share.
type ObjectChange struct {
	Kind, Group, Name string // Name is "***" if it holds a secret
	Action            Action
	// Changes are sorted by path. Their values are JSON, shortened; those of secrets are "***".
	// There are none for an object that is created or deleted.
	Changes []reconcile.Change
}

// An Action is what becomes of an object from base to head.
type Action string

// The actions.
const (
	Create Action = "create"
	Change Action = "change"
	Delete Action = "delete"
)

// Compare returns how the objects of head differ from those of base, sorted by kind, group and
// name. Items of lists that have names, such as containers, are compared by name. A secret is
// compared by where it is kept: whether its value equals another one is not told.
func Compare(base, head Output) []ObjectChange {
	var out []ObjectChange
	before, after := base.byKey(), head.byKey()
	for key, i := range after {
		change := describe(head.Objects[i], head.Masked[i])
		j, isOld := before[key]
		if !isOld {
			change.Action = Create
			out = append(out, change)
			continue
		}
		c := comparison{masked: append(slices.Clone(base.Masked[j]), head.Masked[i]...), isSecret: change.Kind == "Secret"}
		c.compare(base.compared(j), head.compared(i), spot{})
		if len(c.changes) > 0 {
			change.Action, change.Changes = Change, c.sorted()
			out = append(out, change)
		}
	}
	for key, j := range before {
		if _, stays := after[key]; !stays {
			change := describe(base.Objects[j], base.Masked[j])
			change.Action = Delete
			out = append(out, change)
		}
	}
	slices.SortFunc(out, func(a, b ObjectChange) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Action, b.Action))
	})
	return out
}

// compared returns an object as it is compared.
func (o Output) compared(i int) map[string]any {
	if i < len(o.Hidden) && o.Hidden[i] != nil {
		return o.Hidden[i]
	}
	return o.Objects[i]
}

// byKey returns the positions of objects by kind, group and name.
func (o Output) byKey() map[string]int {
	out := map[string]int{}
	for i, object := range o.Objects {
		kind, group, name := identity(object)
		out[kind+"."+group+"/"+name] = i
	}
	return out
}

// identity returns what an object is known by.
func identity(object map[string]any) (kind, group, name string) {
	kind, _ = object["kind"].(string)
	version, _ := object["apiVersion"].(string)
	if before, _, hasGroup := bytes.Cut([]byte(version), []byte("/")); hasGroup {
		group = string(before)
	}
	metadata, _ := object["metadata"].(map[string]any)
	name, _ = metadata["name"].(string)
	return kind, group, name
}

func describe(object map[string]any, masked []string) ObjectChange {
	kind, group, name := identity(object)
	if isBelow("/metadata/name", masked) {
		name = mask
	}
	return ObjectChange{Kind: kind, Group: group, Name: name}
}

// A comparison collects the changes of one object.
type comparison struct {
	masked   []string
	isSecret bool // it is a Secret, whose data are never shown
	changes  []reconcile.Change
}

// A spot is a place of an object: its JSON pointer, and the same with names in place of positions, for people.
type spot struct{ at, named string }

// member returns the spot of a member of an object.
func (s spot) member(name string) spot {
	return spot{jsonpointer.Append(s.at, name), jsonpointer.Append(s.named, name)}
}

// item returns the spot of an item of a list; the name is "" if it has none.
func (s spot) item(i int, name string) spot {
	position := strconv.Itoa(i)
	if name == "" {
		return s.member(position)
	}
	return spot{s.at + "/" + position, jsonpointer.Append(s.named, "name="+name)}
}

// compare compares the values at a place. Absent values are nil.
func (c *comparison) compare(old, changed any, s spot) {
	before, isMap := old.(map[string]any)
	after, isMapToo := changed.(map[string]any)
	if isMap && isMapToo && !isBelow(s.at, c.masked) {
		for key := range before {
			c.compare(before[key], after[key], s.member(key))
		}
		for key := range after {
			if _, isOld := before[key]; !isOld {
				c.compare(nil, after[key], s.member(key))
			}
		}
		return
	}
	was, isList := old.([]any)
	is, isListToo := changed.([]any)
	if isList && isListToo && !isBelow(s.at, c.masked) {
		c.compareLists(was, is, s)
		return
	}
	if !isSame(old, changed) {
		c.add(s, c.show(old, s.at), c.show(changed, s.at))
	}
}

// add adds a change.
func (c *comparison) add(s spot, old, changed string) {
	out := reconcile.Change{Path: phrase.Cut(s.at, maxShown), Old: old, New: changed}
	if s.named != s.at {
		out.Named = phrase.Cut(s.named, maxShown)
	}
	c.changes = append(c.changes, out)
}

// compareLists compares items by their names, if all have one, or else by their positions. The
// positions of changes are those of the new list, and of the old one for what went.
func (c *comparison) compareLists(was, is []any, s spot) {
	before, after := names(was), names(is)
	if before == nil || after == nil || len(c.masked) > 0 { // a place of a secret counts positions
		for i := range max(len(was), len(is)) {
			c.compare(item(was, i), item(is, i), s.item(i, ""))
		}
		return
	}
	for name, i := range after {
		var old any
		if j, isOld := before[name]; isOld {
			old = was[j]
		}
		c.compare(old, is[i], s.item(i, name))
	}
	for name, j := range before {
		if _, stays := after[name]; !stays {
			c.compare(was[j], nil, s.item(j, name))
		}
	}
	if len(c.changes) == 0 && !isSame(was, is) {
		c.add(s, "in another order", "in this order")
	}
}

// item returns an item of a list, nil if it is shorter.
func item(of []any, i int) any {
	if i < len(of) {
		return of[i]
	}
	return nil
}

// names returns the positions of items by name, nil if they have none or share one.
func names(of []any) map[string]int {
	out := map[string]int{}
	for i, item := range of {
		fields, _ := item.(map[string]any)
		name, ok := fields["name"].(string)
		if _, isTwice := out[name]; !ok || isTwice {
			return nil
		}
		out[name] = i
	}
	return out
}

// isSame reports whether two values are the same JSON.
func isSame(a, b any) bool { return bytes.Equal(encode(a), encode(b)) }

// encode returns a value as JSON; maps have sorted keys.
func encode(value any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(value) // it was JSON
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// show returns a value for people, "" for none. A value that holds a secret at any place of it is
// not shown.
func (c *comparison) show(value any, at string) string {
	if value == nil {
		return ""
	}
	holds := func(place string) bool { return isBelow(place, []string{at}) }
	if isBelow(at, c.masked) || slices.ContainsFunc(c.masked, holds) ||
		c.isSecret && (isBelow(at, []string{"/data", "/stringData"})) {
		return mask
	}
	return phrase.Cut(string(encode(value)), maxShown)
}

// sorted returns the changes in their order, at most a number of them.
func (c *comparison) sorted() []reconcile.Change {
	slices.SortFunc(c.changes, func(a, b reconcile.Change) int { return cmp.Compare(a.Path, b.Path) })
	if left := len(c.changes) - maxChanges; left > 0 {
		return append(c.changes[:maxChanges:maxChanges], reconcile.Change{New: fmt.Sprintf("and %d more", left)})
	}
	return c.changes
}
