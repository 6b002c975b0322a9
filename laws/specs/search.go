package main

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// search looks for values of secrets in what was said and kept.
func (l *lab) search() {
	said := map[string]string{"the log": l.log.String(),
		"the state": strings.Join(slices.Collect(maps.Values(l.store.Documents())), "\n")}
	for i := range l.kinds {
		all := slices.Concat(l.makers[i].canaries, slices.Collect(maps.Values(l.makers[i].secrets)))
		for _, place := range slices.Sorted(maps.Keys(said)) {
			if j := slices.IndexFunc(all, func(v string) bool {
				return len(v) > 7 && strings.Contains(v, "canary") && strings.Contains(said[place], v)
			}); j >= 0 {
				l.broken(secretive, i, "%s has %s", place, all[j])
			}
		}
	}
}

// hour is longer than a resource that failed is left alone.
const hour = time.Hour + time.Minute
