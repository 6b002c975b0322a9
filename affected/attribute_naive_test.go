package affected

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/app-sre/prcheck/settings"
)

// A naive attribution: slow, without any hashing, straight from the rules. It
// builds each view as a document of its own and compares whole documents. Its
// documents are plain Go values.
type naive struct {
	selectors []settings.Selector
	ordered   bool
}

// attribute does what Attribute does.
func (n naive) attribute(base, head []any) Attribution {
	if n.whole(base) == n.whole(head) {
		return Attribution{Same: true}
	}
	if n.view(base, "no such key") != n.view(head, "no such key") {
		return Attribution{Why: "outside"}
	}
	affected := map[string]bool{}
	for k := range n.keys(base, head) {
		if n.view(base, k) != n.view(head, k) {
			affected[k] = true
		}
	}
	if len(affected) == 0 || n.without(base, affected) != n.without(head, affected) {
		return Attribution{Why: "moved"}
	}
	return Attribution{Keys: sortedKeys(affected)}
}

// text is a value as text in which nothing but what counts can differ.
func (n naive) text(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var members []string
		for _, k := range sortedKeys(v) {
			members = append(members, strconv.Quote(k)+":"+n.text(v[k]))
		}
		return "{" + strings.Join(members, ",") + "}"
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, n.text(item))
		}
		if !n.ordered {
			slices.Sort(items)
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	return fmt.Sprintf("%#v", v)
}

// A way is what is left of a selector's steps.
type way []settings.Step

func (n naive) ways() []way {
	var out []way
	for _, s := range n.selectors {
		out = append(out, s.Steps)
	}
	return out
}

// onward returns the ways that lead on through a step.
func onward(ways []way, kind settings.StepKind, name string) []way {
	var out []way
	for _, w := range ways {
		if w[0].Kind == kind && w[0].Name == name {
			out = append(out, w[1:])
		}
	}
	return out
}

// A part is what is known about a value that a wildcard leads to.
type part struct {
	own   []string        // its own keys
	bad   bool            // one of its own keys cannot be used
	keys  map[string]bool // all keys in it
	loose bool            // something in it belongs to every key
	inner []way
}

func look(v any, ways []way) part {
	p := part{keys: map[string]bool{}}
	for _, w := range ways {
		if slices.ContainsFunc(w, func(s settings.Step) bool { return s.Kind != settings.Field }) {
			p.inner = append(p.inner, w)
			continue
		}
		key, ok := keyBelow(v, w)
		if !ok {
			p.bad, p.loose = true, true
			continue
		}
		p.own = append(p.own, key)
		p.keys[key] = true
	}
	if !p.bad {
		each(v, p.inner, func(item any, ways []way) {
			q := look(item, ways)
			p.loose = p.loose || q.loose
			if !q.bad {
				for k := range q.keys {
					p.keys[k] = true
				}
			}
		})
	}
	return p
}

func keyBelow(v any, w way) (string, bool) {
	for _, s := range w {
		o, ok := v.(map[string]any)
		if !ok {
			return "", false
		}
		v = o[s.Name]
	}
	key, ok := v.(string)
	fine := ok && key != "" && len(key) <= 253 && key[0] != '-' && utf8.ValidString(key) && !strings.ContainsAny(key, "{}")
	return key, fine && !strings.ContainsFunc(key, unicode.IsControl)
}

// each calls f for every value that the next wildcard of the ways leads to.
func each(v any, ways []way, f func(any, []way)) {
	rebuild(v, ways, func(item any, ways []way) (any, bool) {
		f(item, ways)
		return item, true
	})
}

// rebuild copies a value and lets f replace or drop what wildcards lead to.
func rebuild(v any, ways []way, f func(any, []way) (any, bool)) any {
	switch v := v.(type) {
	case map[string]any:
		wild := onward(ways, settings.Members, "")
		out := map[string]any{}
		for _, name := range sortedKeys(v) {
			named := onward(ways, settings.Field, name)
			if len(wild) == 0 {
				out[name] = rebuild(v[name], named, f)
			} else if m, keep := f(v[name], slices.Concat(wild, named)); keep {
				out[name] = m
			}
		}
		return out
	case []any:
		wild := onward(ways, settings.Items, "")
		if len(wild) == 0 {
			return v
		}
		out := []any{}
		for _, item := range v {
			if m, keep := f(item, wild); keep {
				out = append(out, m)
			}
		}
		return out
	}
	return v
}

// keys returns all usable keys of the documents.
func (n naive) keys(states ...[]any) map[string]bool {
	out := map[string]bool{}
	for _, documents := range states {
		for _, d := range documents {
			each(d, n.ways(), func(item any, ways []way) {
				p := look(item, ways)
				for k := range p.keys {
					if !p.bad {
						out[k] = true
					}
				}
			})
		}
	}
	return out
}

// view is what the documents look like from one key.
func (n naive) view(documents []any, key string) string {
	var filter func(item any, ways []way) (any, bool)
	filter = func(item any, ways []way) (any, bool) {
		p := look(item, ways)
		switch {
		case p.bad, slices.Contains(p.own, key), len(p.keys) == 0:
			return item, true
		case p.keys[key], p.loose:
			return rebuild(item, p.inner, filter), true
		}
		return nil, false
	}
	return n.text(n.all(documents, filter))
}

// without is what is left of the documents when all that belongs to the given
// keys alone is taken away.
func (n naive) without(documents []any, keys map[string]bool) string {
	var filter func(item any, ways []way) (any, bool)
	filter = func(item any, ways []way) (any, bool) {
		p := look(item, ways)
		if p.bad || len(p.keys) == 0 {
			return item, true
		}
		stays := p.loose || slices.ContainsFunc(p.own, func(k string) bool { return !keys[k] })
		left := rebuild(item, p.inner, func(below any, ways []way) (any, bool) {
			b, keep := filter(below, ways)
			stays = stays || keep && len(p.own) == 0 && len(look(below, ways).keys) > 0
			return b, keep
		})
		return left, stays
	}
	return n.text(n.all(documents, filter))
}

// whole is the documents with all that is in them.
func (n naive) whole(documents []any) string {
	return n.text(n.all(documents, func(item any, _ []way) (any, bool) { return item, true }))
}

func (n naive) all(documents []any, filter func(any, []way) (any, bool)) []any {
	out := make([]any, len(documents))
	for i, d := range documents {
		out[i] = []any{i, rebuild(d, n.ways(), filter)}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
