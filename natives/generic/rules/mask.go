package rules

import (
	"fmt"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/internal/jsonpointer"
)

// Hidden stands for a secret in everything that people or programs read.
const Hidden = "(secret)"

// Mask returns a value as outputs may show it: [Hidden] stands for secrets, and for what the
// service does not show either.
// The pattern and the path are those of the value.
func Mask(r Rules, pattern, path string, v any) any {
	rule := Find(r, pattern, path)
	if v == nil {
		return nil
	}
	if rule.hides(v) {
		return Hidden
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[name] = Mask(r, jsonpointer.Append(pattern, name), jsonpointer.Append(path, name), item)
		}
		if name := SecretMember(v); name != "" {
			out[name] = Hidden
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = Mask(r, pattern+"/*", path+"/*", item)
		}
		return out
	}
	return v
}

// hides reports whether no output shows a value.
func (r Rule) hides(v any) bool {
	_, isText := v.(string)
	return r.Secret || r.WriteOnly || r.Doubt != "" || r.Masked && isText
}

// HiddenIn returns the JSON pointers in a body of the values that no output shows, in the order of
// names. Items of lists are named by their indexes.
func HiddenIn(r Rules, v any) []string { return hiddenIn(r, "", "", "", v) }

// hiddenIn is HiddenIn for a value in a body. The path names items as [Identify] does, exact by
// their indexes.
func hiddenIn(r Rules, pattern, path, exact string, v any) (out []string) {
	rule := Find(r, pattern, path)
	if v != nil && rule.hides(v) {
		return []string{exact}
	}
	switch v := v.(type) {
	case map[string]any:
		hidden := SecretMember(v)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name == hidden {
				out = append(out, jsonpointer.Append(exact, name))
				continue
			}
			out = append(out, hiddenIn(r, jsonpointer.Append(pattern, name), jsonpointer.Append(path, name),
				jsonpointer.Append(exact, name), v[name])...)
		}
	case []any:
		rule = rule.Keyed(r.At, pattern, v, nil, nil)
		for i, item := range v {
			_, name := Identify(r.At, pattern, rule, item)
			out = append(out, hiddenIn(r, pattern+"/*", jsonpointer.Append(path, name), fmt.Sprintf("%s/%d", exact, i), item)...)
		}
	}
	return out
}
