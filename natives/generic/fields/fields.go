package fields

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/openapi/classes"
)

// Managers are the managers of the fields of one object.
type Managers struct {
	ours   *node
	others []manager
}

type manager struct {
	name   string
	fields *node
}

// A node is a field: what a manager has of it is what its children are, or all of it if there
// are none.
type node struct {
	members map[string]*node // of an object, by name
	items   []item           // of a list
	isOwn   bool             // the object or the item itself, beside its parts
}

// An item is a field of a list: by keys, or by its value.
type item struct {
	keys  map[string]any // nil for an item of a set
	value any
	node  *node
}

// isWhole reports whether a manager has a value as a whole: a scalar, or a value that is not
// merged.
func (n *node) isWhole() bool { return n != nil && len(n.members) == 0 && len(n.items) == 0 }

// Bounds of what is read.
const (
	maxManagers = 100
	maxLevels   = 100
)

// Read returns the managers of a live object. Ours is the name under which we apply.
func Read(live any, ours string) Managers {
	var out Managers
	entries, _ := get(live, "metadata", "managedFields").([]any)
	for _, e := range entries[:min(len(entries), maxManagers)] {
		entry, _ := e.(map[string]any)
		name, _ := entry["manager"].(string)
		part, _ := entry["subresource"].(string)
		fields := parse(entry["fieldsV1"], 0)
		switch {
		case fields == nil || part != "", name == ours && entry["operation"] != "Apply":
		case name == ours:
			out.ours = fields
		default:
			out.others = append(out.others, manager{name, fields})
		}
	}
	return out
}

func get(v any, names ...string) any {
	for _, name := range names {
		members, _ := v.(map[string]any)
		v = members[name]
	}
	return v
}

// parse reads the fields of one manager (FieldsV1).
func parse(v any, level int) *node {
	members, ok := v.(map[string]any)
	if !ok || level > maxLevels {
		return nil
	}
	n := &node{members: map[string]*node{}}
	for name, inner := range members {
		kind, rest, _ := strings.Cut(name, ":")
		switch kind {
		case ".":
			n.isOwn = true
		case "f":
			if child := parse(inner, level+1); child != nil {
				n.members[rest] = child
			}
		case "k", "v":
			value, err := body.Parse([]byte(rest))
			child := parse(inner, level+1)
			keys, isObject := value.(map[string]any)
			if err != nil || child == nil || kind == "k" && !isObject {
				continue
			}
			if kind == "v" {
				keys = nil
			}
			n.items = append(n.items, item{keys, value, child})
		}
	}
	return n
}

// of returns the item of a list that a field is about, and its index, -1 if there is none. A
// key may be missing in an item: then its value is the default, which is in the field.
func (i item) of(list []any) int {
	exact := slices.IndexFunc(list, func(v any) bool { return i.matches(v, false) })
	if exact >= 0 || i.keys == nil {
		return exact
	}
	return slices.IndexFunc(list, func(v any) bool { return i.matches(v, true) })
}

func (i item) matches(v any, mayLack bool) bool {
	if i.keys == nil {
		return equal(i.value, v)
	}
	members, isObject := v.(map[string]any)
	found := 0
	for key, want := range i.keys {
		have, isThere := members[key]
		if isThere && !equal(want, have) || !isThere && !mayLack {
			return false
		}
		if isThere {
			found++
		}
	}
	return isObject && found > 0
}

func equal(a, b any) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	return body.Equal(a, b, body.Plain)
}

// Settle returns a live object in which each field that is ours, and that desired has as it was
// applied, or no longer, is as it was applied: nobody changed it. It changes none of its
// arguments.
func (m Managers) Settle(applied, desired, live any, r rules.Rules) any {
	return settler{r}.settle(m.ours, "", applied, desired, live)
}

type settler struct{ rules rules.Rules }

func (s settler) settle(n *node, pattern string, applied, desired, live any) any {
	switch {
	case n == nil:
		return live
	case n.isWhole():
		if applied == nil || !s.isOneValue(pattern, applied) || desired != nil && !equal(applied, desired) {
			return live
		}
		if desired == nil {
			return kept(applied, live) // it is to go: nobody changed it since
		}
		return desired
	}
	switch l := live.(type) {
	case map[string]any:
		a, wasObject := applied.(map[string]any)
		d, _ := desired.(map[string]any)
		if !wasObject || len(n.members) == 0 {
			return live
		}
		out := maps.Clone(l)
		for name, child := range n.members {
			if v := s.settle(child, jsonpointer.Append(pattern, name), a[name], d[name], l[name]); v != nil {
				out[name] = v
			}
		}
		return out
	case []any:
		a, wasList := applied.([]any)
		d, _ := desired.([]any)
		if !wasList {
			return live
		}
		out := slices.Clone(l)
		for _, it := range n.items {
			i, j, k := it.of(a), it.of(d), it.of(l)
			if i < 0 || k < 0 || it.keys == nil {
				continue
			}
			var wanted any
			if j >= 0 {
				wanted = d[j]
			}
			out[k] = s.settle(it.node, pattern+"/*", a[i], wanted, l[k])
		}
		return out
	}
	return live
}

// kept returns what was applied, unless there is nothing of it.
func kept(applied, live any) any {
	if live == nil {
		return nil
	}
	return applied
}

// isOneValue reports whether a value is not merged by its parts: who has it has all of it.
func (s settler) isOneValue(pattern string, v any) bool {
	rule := s.rules.At(pattern)
	switch v := v.(type) {
	case map[string]any:
		return rule.Atomic || len(v) == 0
	case []any:
		return rule.List != classes.Map && rule.List != classes.Set || len(v) == 0
	}
	return true
}
