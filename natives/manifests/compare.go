package manifests

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// A difference is a value of the manifest that the live object does not have, or a value that
// the manifest no longer has.
type difference struct {
	at       place
	want, is any  // nil if there is none
	isOrder  bool // the items of a list stand in another order
}

// maxDepth is how deep objects are compared part by part. Below that they are one value.
const maxDepth = 60

// A comparison compares a manifest with a live object.
type comparison struct {
	want    Object // adapted to the live object
	digest  string // of the manifest
	live    *Live
	options Options
	found   []difference
	err     error
}

// isAddress reports whether a place names the object, or is written by the server alone.
func isAddress(p place) bool {
	switch p.name(0) {
	case "apiVersion", "kind", "status":
		return len(p) == 1
	case "metadata":
		switch p.name(1) {
		case "name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields":
			return len(p) == 2
		}
	}
	return false
}

// compare compares the values at a place. A value that is not there is nil.
func (c *comparison) compare(p place, want, is any) {
	if isAddress(p) || len(p) == 3 && p.name(0) == "metadata" && isNoted(p.name(2)) {
		return
	}
	if len(p) > maxDepth {
		if canonical(want) != canonical(is) {
			c.add(p, want, is)
		}
		return
	}
	switch w := want.(type) {
	case nil:
	case map[string]any:
		c.compareObjects(p, w, is)
	case []any:
		c.compareLists(p, w, is)
	default:
		if !c.sameScalar(p, want, is) {
			c.add(p, want, is)
		}
	}
}

func (c *comparison) add(p place, want, is any) {
	c.found = append(c.found, difference{at: p, want: want, is: is})
}

// compareObjects compares the members of the manifest.
func (c *comparison) compareObjects(p place, want map[string]any, is any) {
	members, ok := is.(map[string]any)
	switch {
	case !ok && is == nil && len(want) == 0 && !isChoice(p):
		return
	case !ok && len(p) > 0:
		c.add(p, want, is)
		return
	}
	if isExact(p) && !c.isForeign() {
		for name := range members {
			if _, wanted := want[name]; !wanted {
				c.add(p, want, is)
				return
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		c.compare(p.member(name), want[name], members[name])
	}
}

// compareLists compares the items of the manifest: those with keys by their keys.
func (c *comparison) compareLists(p place, want []any, is any) {
	items, ok := is.([]any)
	if !ok {
		if len(want) > 0 || is != nil {
			c.add(p, want, is)
		}
		return
	}
	if c.isShared(p) {
		if !hasAll(items, want) {
			c.add(p, want, is)
		}
		return
	}
	members, isOfTexts := c.keysOf(p, want)
	if isOfTexts {
		for i, item := range want {
			if !slices.ContainsFunc(items, func(v any) bool { return reflect.DeepEqual(v, item) }) {
				c.add(p.inList(segment{index: i, item: item}), item, nil)
			}
		}
		return
	}
	if members == nil && len(want) != len(items) {
		c.add(p, want, is)
		return
	}
	var found []int // indexes of the items of the manifest
	for i, item := range want {
		if members == nil {
			c.compare(p.inList(segment{index: i}), item, items[i])
			continue
		}
		keys := keysIn(members, item)
		if keys == nil {
			c.add(p.inList(segment{index: i}), item, nil) // the server refuses it, and says why
			continue
		}
		is, at := findItem(items, keys)
		c.compare(p.inList(segment{index: i, keys: keys}), item, is)
		if at >= 0 {
			found = append(found, at)
		}
	}
	if isSequence(p.last()) && !slices.IsSorted(found) {
		c.found = append(c.found, difference{at: p, want: namesOf(want), is: namesOf(items), isOrder: true})
	}
}

// namesOf returns the names of the items of a list, in their order.
func namesOf(items []any) []any {
	var out []any
	for _, item := range items {
		out = append(out, at(item, "name"))
	}
	return out
}

// sameScalar reports whether a text, number or truth value is the same.
func (c *comparison) sameScalar(p place, want, is any) bool {
	if is == nil {
		return isEmpty(want) && (isValueOfVariable(p) || c.isOurs(p))
	}
	switch is.(type) {
	case map[string]any, []any:
		return false
	}
	if isQuantity(p) {
		return equalQuantities(fmt.Sprint(want), fmt.Sprint(is))
	}
	switch want.(type) {
	case string, bool, json.Number, int, int32, int64, float64:
		return plain(want) == plain(is)
	}
	return canonical(want) == canonical(is) // no value of decoded JSON
}

// isEmpty reports whether a server may drop a value.
func isEmpty(v any) bool {
	switch v := plain(v).(type) {
	case string:
		return v == ""
	case bool:
		return !v
	case int64:
		return v == 0
	case float64:
		return v == 0
	}
	return false
}

// isValueOfVariable reports whether a place is the value of an environment variable: no value
// is an empty one.
func isValueOfVariable(p place) bool {
	n := len(p)
	return n > 2 && p[n-1].name == "value" && p[n-3].name == "env"
}

// canonical returns a value as JSON with sorted members.
func canonical(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%#v", v) // no value of JSON; it differs from every such value
	}
	return string(raw)
}
