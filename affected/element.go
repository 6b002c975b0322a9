package affected

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
)

// full is the hash of the element with all its parts.
func (e *element) full(order integration.ListOrder) string {
	below := make([]string, 0, len(e.parts))
	for _, p := range e.parts {
		below = append(below, p.full(order))
	}
	return hash(append([]string{e.rest}, sorted(below, order)...)...)
}

// keys returns the keys of the element and of its parts, sorted.
func (e *element) keys() []string {
	out := slices.Clone(e.own)
	for _, p := range e.parts {
		out = append(out, p.keys()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// views returns for each key the hash of what the element looks like from
// there. An owner element shows itself whole to its own key.
func (e *element) views(order integration.ListOrder) map[string]string {
	below := map[string][]string{}
	for _, p := range e.parts {
		for key, view := range p.views(order) {
			below[key] = append(below[key], view)
		}
	}
	out := make(map[string]string, len(below)+len(e.own))
	for key, views := range below {
		out[key] = hash(append([]string{e.rest}, sorted(views, order)...)...)
	}
	for _, key := range e.own {
		out[key] = e.full(order)
	}
	return out
}

// without is the hash of the element once all that belongs to the given keys
// alone has been taken away; "" when nothing is left.
func (e *element) without(keys map[string]bool, order integration.ListOrder) string {
	for _, k := range e.own {
		if keys[k] {
			return ""
		}
	}
	var below []string
	for _, p := range e.parts {
		if left := p.without(keys, order); left != "" {
			below = append(below, left)
		}
	}
	if len(below) == 0 && len(e.parts) > 0 && len(e.own) == 0 && e.place != "" {
		return ""
	}
	return hash(append([]string{e.rest}, sorted(below, order)...)...)
}

// differing returns the keys whose views differ, sorted.
func differing(base, head map[string]string) []string {
	var out []string
	for key, view := range base {
		if head[key] != view {
			out = append(out, key)
		}
	}
	for key := range head {
		if _, ok := base[key]; !ok {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// hash joins texts so that different lists of texts give different hashes.
func hash(texts ...string) string {
	h := sha256.New()
	var size [8]byte
	for _, t := range texts {
		binary.BigEndian.PutUint64(size[:], uint64(len(t)))
		h.Write(size[:])
		h.Write([]byte(t))
	}
	return string(h.Sum(nil))
}

func sorted(texts []string, order integration.ListOrder) []string {
	if order == integration.OrderSignificant {
		return texts
	}
	out := slices.Clone(texts)
	slices.Sort(out)
	return out
}

func flat(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	out := make([]string, 0, 2*len(m))
	for _, k := range keys {
		out = append(out, k, m[k])
	}
	return out
}

// canonical writes a value so that equal states have equal text: keys sorted,
// numbers as written, list items sorted unless their order counts.
func canonical(v any, order integration.ListOrder) string {
	if order == integration.OrderSignificant {
		return bundle.Canonical(v)
	}
	return string(appendUnordered(nil, v))
}

func appendUnordered(out []byte, v any) []byte {
	switch v := v.(type) {
	case *bundle.Object:
		members := slices.Clone(v.Members())
		slices.SortFunc(members, func(a, b bundle.Member) int { return strings.Compare(a.Key, b.Key) })
		out = append(out, '{')
		for i, m := range members {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(strconv.AppendQuote(out, m.Key), ':')
			out = appendUnordered(out, m.Value)
		}
		return append(out, '}')
	case []any:
		items := make([]string, len(v))
		for i := range v {
			items[i] = string(appendUnordered(nil, v[i]))
		}
		slices.Sort(items)
		out = append(out, '[')
		for i, item := range items {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, item...)
		}
		return append(out, ']')
	}
	return bundle.AppendCanonical(out, v)
}

func quote(s string) string { return strconv.Quote(s) }
