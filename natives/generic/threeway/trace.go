package threeway

import (
	"crypto/hmac"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
)

// The member of an object that stands for a secret in what was applied.
const (
	hashName    = "$hmac"    // the keyed hash of the value
	versionName = "$version" // the version of the value in the store of secrets
)

// Remember returns what to keep of a body that was sent with success: the next plan's Applied.
// In the place of a secret, and of a value that cannot be read back, it has the version or
// else the keyed hash of the value. Without a key such a value without a version is left out,
// so that later changes of it are not seen.
func Remember(sent any, r rules.Rules, key []byte) any {
	if r == nil {
		r = rules.None
	}
	m := &maker{in: Input{Rules: r, Key: key}, known: map[place]rules.Rule{}}
	return m.remember(place{}, sent)
}

func (m *maker) remember(at place, v any) any {
	rule := m.rule(at)
	_, isObject := v.(map[string]any)
	_, isText := v.(string)
	_, isList := v.([]any)
	item := m.rule(at.item("*"))
	switch {
	case v == nil:
		return nil
	case rule.WriteOnly && rule.Version != "":
		return map[string]any{versionName: rule.Version}
	case rule.WriteOnly, rule.Secret && !isObject, rule.Masked && isText, rule.Doubt != "" && !isObject,
		isList && (item.WriteOnly || item.Secret):
		return m.hashed(v)
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		hidden := rules.SecretMember(v)
		for name, item := range v {
			kept := m.remember(at.member(name), item)
			if name == hidden {
				kept = m.hashed(item)
			}
			if kept != nil || item == nil {
				out[name] = kept
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = m.rememberItem(at, rule, item)
		}
		return out
	}
	return v
}

// hashed returns what stands for a secret, nil without a key.
func (m *maker) hashed(v any) any {
	if m.in.Key == nil {
		return nil
	}
	return map[string]any{hashName: body.HMAC(m.in.Key, v)}
}

// rememberItem keeps the keys of an item as they are: without them it is not found again.
func (m *maker) rememberItem(at place, list rules.Rule, item any) any {
	_, name := m.identify(at, list, item)
	inner := at.item(name)
	kept := m.remember(inner, item)
	members, isObject := item.(map[string]any)
	out, isKept := kept.(map[string]any)
	if !isObject || !isKept || m.rule(inner).WriteOnly {
		return kept
	}
	for _, key := range list.Keys {
		if v, ok := members[key]; ok && !m.rule(inner.member(key)).Secret {
			out[key] = v
		}
	}
	return out
}

// Traced returns the places of what was applied at which a secret stood, as patterns.
func Traced(applied any) []string { return traced("", applied, nil) }

func traced(pattern string, v any, out []string) []string {
	if isTrace(v) {
		return append(out, pattern)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out = traced(jsonpointer.Append(pattern, name), v[name], out)
		}
	case []any:
		for _, item := range v {
			out = traced(pattern+"/*", item, out)
		}
	}
	return out
}

// isTrace reports whether a value stands for a secret that was applied, perhaps when the rules said so that now do not.
func isTrace(v any) bool {
	members, _ := v.(map[string]any)
	if len(members) != 1 {
		return false
	}
	_, isHash := members[hashName].(string)
	_, isVersion := members[versionName].(string)
	return isHash || isVersion
}

// isOfStore reports whether a value stands for one of a store of secrets, perhaps at a place
// of which the data no longer say that its value is secret.
func isOfStore(v any) bool {
	members, _ := v.(map[string]any)
	_, ok := members[versionName].(string)
	return ok && len(members) == 1
}

// sameAsTraced reports whether a value is the one that was applied.
func (m *maker) sameAsTraced(at place, applied, v any) bool {
	rule := m.rule(at)
	switch {
	case isTrace(applied):
	case rule.WriteOnly: // all of it, since what stands in it cannot be read back either
		return body.Equal(applied, v, rule.Format)
	default:
		return m.same(at, applied, v)
	}
	members, _ := applied.(map[string]any)
	if hash, ok := members[hashName].(string); ok {
		return m.in.Key != nil && hmac.Equal([]byte(hash), []byte(body.HMAC(m.in.Key, v)))
	}
	return rule.Version != "" && members[versionName] == any(rule.Version)
}
