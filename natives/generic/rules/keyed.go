package rules

import (
	"slices"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/openapi/classes"
)

// Keyed returns the rule of a list with the keys that count for some items of it: those that all items of both sides
// have, or that a default stands for. If none is left, or two items of the service have the same ones, its items are
// known by their positions: the list is atomic. Own are the items of the data, live those of the service, and applied
// those that were applied, of which as many keys count as they have. At returns the rule of a pattern; the pattern is
// that of the list.
func (r Rule) Keyed(at func(pattern string) Rule, pattern string, own, live, applied []any) Rule {
	if r.List != classes.Map {
		return r
	}
	declared := r.Keys
	r.Keys = sharedKeys(at, pattern, declared, own, live)
	if both := sharedKeys(at, pattern, r.Keys, applied); len(both) > 0 {
		r.Keys = both
	}
	isWhole := len(r.Keys) == len(declared) && !r.KeysInferred
	if len(r.Keys) == 0 || isRepeated(at, pattern, r, live) || !isWhole && isRepeated(at, pattern, r, own) {
		r.List, r.Keys, r.Exclusive = classes.Atomic, nil, false
	}
	return r
}

// sharedKeys returns the keys that all items of all lists have.
func sharedKeys(at func(pattern string) Rule, pattern string, keys []string, lists ...[]any) []string {
	isMissing := func(key string) bool {
		if at(jsonpointer.Append(pattern+"/*", key)).Default != nil {
			return false
		}
		return slices.ContainsFunc(lists, func(items []any) bool {
			return slices.ContainsFunc(items, func(item any) bool {
				members, _ := item.(map[string]any)
				return members[key] == nil
			})
		})
	}
	return slices.DeleteFunc(slices.Clone(keys), isMissing)
}

// isRepeated reports whether two items have the same keys.
func isRepeated(at func(pattern string) Rule, pattern string, list Rule, items []any) bool {
	seen := make(map[string]bool, len(items))
	for _, item := range items {
		id, _ := Identify(at, pattern, list, item)
		if seen[id] {
			return true
		}
		seen[id] = true
	}
	return false
}
