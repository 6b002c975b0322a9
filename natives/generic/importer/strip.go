package importer

import (
	"slices"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/openapi/classes"
)

// A Stripped is what data hold of a live body.
type Stripped struct {
	Body    any
	Secrets []string // the places of secrets that were left out: JSON pointers, sorted
	// Whole are the places of lists and objects that were left out as a whole, since they are
	// merged as one value and have a secret in them. They are sorted.
	Whole []string
	// Refused are the values that [Stripped.Refuse] left out.
	Refused []Refusal
}

// Strip leaves out of a live body what data do not hold. The names are members of the object
// with marks that are left out; the live body is not changed.
func Strip(live any, r rules.Rules, f *family.Family, marks []string) Stripped {
	s := &stripper{rules: r, marks: map[string]bool{}}
	if f != nil && f.Marks != "" {
		for _, name := range append(marks, f.Foreign...) {
			s.marks[jsonpointer.Append(f.Marks, name)] = true
		}
	}
	out, isLeft := s.strip("", "", live, false)
	if !isLeft {
		out = map[string]any{}
	}
	slices.Sort(s.secrets)
	slices.Sort(s.whole)
	return Stripped{Body: out, Secrets: slices.Compact(s.secrets), Whole: s.whole}
}

type stripper struct {
	rules   rules.Rules
	marks   map[string]bool
	secrets []string
	whole   []string
}

// strip returns a value as data have it, and whether anything is left of it. Inside of a value
// that is not merged by its parts, only what must not be sent is left out.
func (s *stripper) strip(pattern, path string, v any, isWhole bool) (any, bool) {
	rule := rules.Find(s.rules, pattern, path)
	_, isText := v.(string)
	_, isObject := v.(map[string]any)
	switch {
	case rule.ReadOnly, rule.Volatile, rule.WriteOnly, rule.Ignore, s.marks[path]:
		return nil, false
	case rule.Secret && !isObject, rule.Masked && isText, rule.Doubt != "":
		s.secrets = append(s.secrets, path)
		return nil, false
	case body.IsEmpty(v) && !isWhole:
		return nil, false
	case rule.Applies && !isWhole && body.Equal(v, rule.Default, rule.Format):
		return nil, false
	}
	if items, isList := v.([]any); isList {
		rule = rule.Keyed(s.rules.At, pattern, items, nil, nil)
	}
	isOne := rule.Atomic || isList(v) && rule.List != classes.Map
	if before := len(s.secrets); isOne && !isWhole {
		out, isKept := s.inside(pattern, path, rule, v, rule.Atomic)
		if len(s.secrets) == before {
			return out, isKept
		}
		s.secrets, s.whole = s.secrets[:before], append(s.whole, path)
		return nil, false
	}
	return s.inside(pattern, path, rule, v, isWhole || rule.Atomic)
}

func isList(v any) bool {
	_, ok := v.([]any)
	return ok
}

// inside strips the parts of a value.
func (s *stripper) inside(pattern, path string, rule rules.Rule, v any, isWhole bool) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, inner := range v {
			if kept, isKept := s.strip(jsonpointer.Append(pattern, name), jsonpointer.Append(path, name), inner,
				isWhole); isKept {
				out[name] = kept
			}
		}
		return out, len(out) > 0 || isWhole
	case []any:
		return s.items(pattern, path, rule, v), true
	}
	return v, true
}

// items keeps all items of a list: without one of them the others would be another list.
func (s *stripper) items(pattern, path string, rule rules.Rule, list []any) []any {
	isWhole := rule.List != classes.Map
	out := make([]any, len(list))
	for i, item := range list {
		_, name := rules.Identify(s.rules.At, pattern, rule, item)
		if isWhole {
			name = "*"
		}
		inner := jsonpointer.Append(path, name)
		kept, isKept := s.strip(pattern+"/*", inner, item, isWhole)
		members, isObject := item.(map[string]any)
		if !isKept && isObject {
			kept = map[string]any{}
		}
		out[i] = kept
		keptMembers, _ := kept.(map[string]any)
		for _, key := range rule.Keys { // an item is found by its keys, also by default values
			if v, isThere := members[key]; isThere && keptMembers != nil &&
				!rules.Find(s.rules, pattern+"/*/"+jsonpointer.Escape(key), "").Secret {
				keptMembers[key] = v
			}
		}
	}
	return out
}
