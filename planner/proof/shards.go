package proof

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/app-sre/prcheck/settings"
)

// An attribution finds the shards to which the difference of two desired states belongs. For
// each key it builds the document that its shard sees, and compares whole documents.
type attribution struct {
	ways []way
	writer
}

func newAttribution(selectors []settings.Selector, w writer) attribution {
	a := attribution{writer: w}
	for _, s := range selectors {
		a.ways = append(a.ways, s.Steps)
	}
	return a
}

// sameElsewhere tells whether two desired states are the same without what belongs to the shards of some keys alone.
func sameElsewhere(base, head list, selectors []settings.Selector, keys []string, w writer) bool {
	a, left := newAttribution(selectors, w), map[string]bool{}
	for _, k := range keys {
		left[k] = true
	}
	return a.without(base, left) == a.without(head, left)
}

// attribute returns the keys of the shards that differ, sorted, or why the difference is not
// that of single shards.
func attribute(base, head list, selectors []settings.Selector, w writer) (keys []string, why string) {
	a := newAttribution(selectors, w)
	const nobody = "" // no shard has this key, so it sees what every shard sees
	if a.view(base, nobody) != a.view(head, nobody) {
		return nil, "something that belongs to no single shard differs"
	}
	differ := map[string]bool{}
	for key := range a.keys(base, head) {
		if a.view(base, key) != a.view(head, key) {
			differ[key] = true
		}
	}
	if len(differ) == 0 || a.without(base, differ) != a.without(head, differ) {
		return nil, "the difference cannot be told apart by shard: elements moved or changed their order"
	}
	return sortedKeys(differ), ""
}

// A way is what is left of the steps of a selector.
type way []settings.Step

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
	own    []string        // its own keys
	bad    bool            // one of its own keys cannot be used, so it belongs to every shard
	keys   map[string]bool // all keys in it
	shared bool            // something in it belongs to every shard
	inner  []way           // lead to the parts in it
}

// look returns what is known about a value.
func look(v any, ways []way) part {
	p := part{keys: map[string]bool{}}
	for _, w := range ways {
		if slices.ContainsFunc(w, func(s settings.Step) bool { return s.Kind != settings.Field }) {
			p.inner = append(p.inner, w)
			continue
		}
		key, ok := keyBelow(v, w)
		if !ok {
			p.bad, p.shared = true, true
			continue
		}
		p.own = append(p.own, key)
		p.keys[key] = true
	}
	if p.bad {
		return p
	}
	rebuild(v, p.inner, func(item any, ways []way) (any, bool) {
		q := look(item, ways)
		p.shared = p.shared || q.shared
		if !q.bad {
			maps.Copy(p.keys, q.keys)
		}
		return item, true
	})
	return p
}

// keyBelow returns the key that steps lead to, and whether it can be an argument of a task.
func keyBelow(v any, steps way) (string, bool) {
	for _, s := range steps {
		o, _ := v.(object)
		v = o[s.Name]
	}
	key, ok := v.(string)
	return key, ok && key != "" && len(key) <= 253 && key[0] != '-' && utf8.ValidString(key) &&
		!strings.ContainsAny(key, "{}") && !strings.ContainsFunc(key, unicode.IsControl)
}

// rebuild copies a value and lets f replace or drop what the next wildcards lead to.
func rebuild(v any, ways []way, f func(any, []way) (any, bool)) any {
	if len(ways) == 0 {
		return v
	}
	switch v := v.(type) {
	case object:
		wild := onward(ways, settings.Members, "")
		out := object{}
		for name, m := range v {
			named := onward(ways, settings.Field, name)
			if len(wild) == 0 {
				out[name] = rebuild(m, named, f)
			} else if m, keep := f(m, slices.Concat(wild, named)); keep {
				out[name] = m
			}
		}
		return out
	case list:
		wild := onward(ways, settings.Items, "")
		if len(wild) == 0 {
			return v
		}
		out := list{}
		for _, item := range v {
			if m, keep := f(item, wild); keep {
				out = append(out, m)
			}
		}
		return out
	}
	return v
}

// keys returns all keys of the documents.
func (a attribution) keys(states ...list) map[string]bool {
	out := map[string]bool{}
	for _, documents := range states {
		for _, d := range documents {
			rebuild(d, a.ways, func(item any, ways []way) (any, bool) {
				if p := look(item, ways); !p.bad {
					maps.Copy(out, p.keys)
				}
				return item, true
			})
		}
	}
	return out
}

// view returns the documents as the shard of a key sees them.
func (a attribution) view(documents list, key string) string {
	var filter func(item any, ways []way) (any, bool)
	filter = func(item any, ways []way) (any, bool) {
		p := look(item, ways)
		switch {
		case p.bad, slices.Contains(p.own, key), len(p.keys) == 0:
			return item, true
		case p.keys[key], p.shared:
			return rebuild(item, p.inner, filter), true
		}
		return nil, false
	}
	return a.filtered(documents, filter)
}

// without returns the documents without all that belongs to the given keys alone.
func (a attribution) without(documents list, keys map[string]bool) string {
	var filter func(item any, ways []way) (any, bool)
	filter = func(item any, ways []way) (any, bool) {
		p := look(item, ways)
		if p.bad || len(p.keys) == 0 {
			return item, true
		}
		stays := p.shared || slices.ContainsFunc(p.own, func(k string) bool { return !keys[k] })
		left := rebuild(item, p.inner, func(below any, ways []way) (any, bool) {
			b, keep := filter(below, ways)
			stays = stays || keep && len(p.own) == 0 && len(look(below, ways).keys) > 0
			return b, keep
		})
		return left, stays
	}
	return a.filtered(documents, filter)
}

// filtered returns the documents with what a filter leaves of them, as one text.
func (a attribution) filtered(documents list, filter func(any, []way) (any, bool)) string {
	var out strings.Builder
	for _, d := range documents {
		out.WriteString(a.write(rebuild(d, a.ways, filter)) + "\n")
	}
	return out.String()
}
