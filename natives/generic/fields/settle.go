package fields

import (
	"maps"
	"slices"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/openapi/classes"
)

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
