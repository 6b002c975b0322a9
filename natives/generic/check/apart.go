package check

import (
	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/rules"
)

// apart returns two bodies without the members of objects that are equal in both. A plan says
// nothing of those, and most of a wide body is not changed. Objects that are one value stay whole.
func apart(r rules.Rules, base, head any) (any, any) {
	b, isObject := base.(map[string]any)
	h, isOther := head.(map[string]any)
	if !isObject || !isOther {
		return base, head
	}
	return membersApart(r, "", b, h)
}

func membersApart(r rules.Rules, pattern string, base, head map[string]any) (b, h map[string]any) {
	b, h = map[string]any{}, map[string]any{}
	for name, v := range base {
		if _, isThere := head[name]; !isThere {
			b[name] = v
		}
	}
	for name, v := range head {
		was, isThere := base[name]
		switch {
		case !isThere:
			h[name] = v
		case !isEqual(was, v):
			b[name], h[name] = was, v
			inner := jsonpointer.Append(pattern, name)
			x, isObject := was.(map[string]any)
			y, isOther := v.(map[string]any)
			if isObject && isOther && isMergedAt(r, inner) {
				b[name], h[name] = membersApart(r, inner, x, y)
			}
		}
	}
	return b, h
}

// isMergedAt reports whether an object is planned by its members.
func isMergedAt(r rules.Rules, pattern string) bool {
	rule := rules.Find(r, pattern, pattern)
	return !rule.Atomic && !rule.WriteOnly && !rule.Secret && !rule.Volatile && rule.Doubt == ""
}

// isEqual reports whether two values are spelled the same.
func isEqual(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, v := range a {
			if other, isThere := b[name]; !isThere || !isEqual(v, other) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i, v := range a {
			if !isEqual(v, b[i]) {
				return false
			}
		}
		return true
	}
	return a == b
}
