package rest

import (
	"cmp"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/openapi/classes"
)

// listOf returns how two lists are to be merged so that they are the same, "" if nothing makes them so: by the member
// that tells the items of both apart, or by the values of their items.
func listOf(sent, back any) (classes.ListKind, []string) {
	a, isList := sent.([]any)
	b, areLists := back.([]any)
	if !isList || !areLists || len(a) == 0 {
		return "", nil
	}
	if key := keyOf(a, b); key != "" {
		return classes.Map, []string{key}
	}
	if slices.Equal(spelled(a), spelled(b)) {
		return classes.Set, nil
	}
	return "", nil
}

// keyOf returns the member whose values tell the items of both lists apart, and are the same in both, "" if there is
// none. A name is preferred to an id, and both to all others.
func keyOf(a, b []any) string {
	first, _ := a[0].(map[string]any)
	names := slices.SortedFunc(maps.Keys(first), func(x, y string) int {
		order := func(name string) int { return slices.Index([]string{"id", "name"}, name) }
		return cmp.Or(cmp.Compare(order(y), order(x)), cmp.Compare(x, y))
	})
	for _, name := range names {
		ours, isKey := valuesOf(a, name)
		theirs, isAlso := valuesOf(b, name)
		if isKey && isAlso && slices.Equal(ours, theirs) {
			return name
		}
	}
	return ""
}

// valuesOf returns the values of a member of all items, sorted, and whether each item has its own.
func valuesOf(items []any, name string) ([]string, bool) {
	var out []string
	for _, item := range items {
		members, _ := item.(map[string]any)
		switch members[name].(type) {
		case nil, map[string]any, []any, bool:
			return nil, false
		}
		out = append(out, body.Canonical(members[name]))
	}
	slices.Sort(out)
	return out, len(slices.Compact(slices.Clone(out))) == len(out)
}

// spelled returns the texts of items, sorted.
func spelled(items []any) []string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = body.Canonical(item)
	}
	slices.Sort(out)
	return out
}
