package plan

import (
	"maps"
	"slices"
	"strings"
)

// mergeObserved merges the observations of all parts. An integration read a schema
// if any part read it; a schema is unread if no part read it.
func mergeObserved(parts []*Results) []Observed {
	all := map[string]Observed{}
	for _, part := range parts {
		for _, o := range part.Observed {
			known, ok := all[o.Integration]
			if !ok {
				all[o.Integration] = o
				continue
			}
			read := slices.Concat(known.Read, o.Read)
			slices.Sort(read)
			known.Read = slices.Compact(read)
			known.Unread = slices.DeleteFunc(slices.Clone(known.Unread), func(s string) bool {
				return !slices.Contains(o.Unread, s)
			})
			known.Fields = mergeFields(known.Fields, o.Fields)
			beyond := slices.Concat(known.Beyond, o.Beyond)
			slices.Sort(beyond)
			known.Beyond = slices.Compact(beyond)
			known.Partial = known.Partial && o.Partial
			all[o.Integration] = known
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b Observed) int {
		return strings.Compare(a.Integration, b.Integration)
	})
}

// mergeFields returns the fields of both maps, sorted.
func mergeFields(a, b map[string][]string) map[string][]string {
	out := maps.Clone(a)
	for schema, fields := range b {
		if out == nil {
			out = map[string][]string{}
		}
		list := slices.Concat(out[schema], fields)
		slices.Sort(list)
		out[schema] = slices.Compact(list)
	}
	return out
}
