package affected

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// full returns the hash of the element with all its parts.
func (e *element) full(order settings.ListOrder) string {
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

// views returns the hash of the view of each key: the element with the parts that
// belong to the key. The view of an owner element's own key is the whole element.
func (e *element) views(order settings.ListOrder) map[string]string {
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

// grouped returns the hashes of the parts that say which elements stand together: parts
// that hold several keys, or an element whose key cannot be used. When elements move
// from one such part to another, no single key need see it. The hashes are sorted, for
// states in which the order of lists does not count.
func (e *element) grouped() []string {
	var out []string
	for _, p := range e.parts {
		if p.shared || len(p.keys()) > 1 {
			out = append(out, p.full(settings.OrderIgnored))
		}
	}
	slices.Sort(out)
	return out
}

// without returns the hash of the element without the parts that belong to the given
// keys alone; "" when nothing is left.
func (e *element) without(keys map[string]bool, order settings.ListOrder) string {
	belongs := len(e.own) > 0 && !slices.ContainsFunc(e.own, func(k string) bool { return !keys[k] })
	if belongs && !e.shared {
		return ""
	}
	var below []string
	for _, p := range e.parts {
		if left := p.without(keys, order); left != "" {
			below = append(below, left)
		}
	}
	if len(below) == 0 && len(e.parts) > 0 && len(e.own) == 0 && e.place != "" && !e.shared {
		return ""
	}
	return hash(append([]string{e.rest}, sorted(below, order)...)...)
}

// differingKeys returns the keys whose texts differ or that only one side has,
// sorted.
func differingKeys(base, head map[string]string) []string {
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

// hash returns a hash of texts. Different lists of texts have different hashes.
func hash(texts ...string) string {
	var few [512]byte
	all := few[:0]
	for _, t := range texts {
		all = binary.BigEndian.AppendUint64(all, uint64(len(t)))
		all = append(all, t...)
	}
	sum := sha256.Sum256(all)
	return string(sum[:])
}

// sorted returns texts in a fixed order, unless their order counts.
func sorted(texts []string, order settings.ListOrder) []string {
	if order == settings.OrderSignificant {
		return texts
	}
	out := slices.Clone(texts)
	slices.Sort(out)
	return out
}

// flatten returns the keys and values of a map, in the order of the keys.
func flatten(m map[string]string) []string {
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

// appendCanonical appends the canonical text of a value, which is the same for equal
// values: keys are sorted, numbers are as written, and list items are sorted unless
// their order counts.
func appendCanonical(out []byte, v any, order settings.ListOrder) []byte {
	switch v := v.(type) {
	case string:
		return appendQuoted(out, v)
	case *bundle.Object:
		var few [24]bundle.Member
		members := append(few[:0], v.Members()...)
		slices.SortFunc(members, compareKeys)
		out = append(out, '{')
		for _, m := range members {
			out = append(appendQuoted(out, m.Key), ':')
			out = append(appendCanonical(out, m.Value, order), ',')
		}
		return append(out, '}')
	case []any:
		return appendList(out, v, order)
	}
	return bundle.AppendCanonical(out, v)
}

// appendList appends the canonical text of a list.
func appendList(out []byte, list []any, order settings.ListOrder) []byte {
	out = append(out, '[')
	start := len(out)
	ends := make([]int, len(list))
	for i, v := range list {
		out = append(appendCanonical(out, v, order), ',')
		ends[i] = len(out)
	}
	if order == settings.OrderSignificant || len(list) < 2 {
		return append(out, ']')
	}
	items := make([][]byte, len(list))
	from := start
	for i, to := range ends {
		items[i], from = out[from:to], to
	}
	if !slices.IsSortedFunc(items, bytes.Compare) {
		slices.SortFunc(items, bytes.Compare)
		copy(out[start:], bytes.Join(items, nil))
	}
	return append(out, ']')
}

// quote returns a text in quotes.
func quote(s string) string { return string(appendQuoted(nil, s)) }

// appendQuoted appends a text in quotes as strconv does, but much faster for most
// texts.
func appendQuoted(out []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return strconv.AppendQuote(out, s)
		}
	}
	return append(append(append(out, '"'), s...), '"')
}

// field returns a name as a step of a place. A name with special characters is
// quoted, so that different places never have the same text.
func field(name string) string {
	if name == "" || strings.ContainsAny(name, ".*[]\"\\") {
		return quote(name)
	}
	return name
}

// membersByKey returns the members of an object sorted by key, since their order
// never counts.
func membersByKey(o *bundle.Object) []bundle.Member {
	members := slices.Clone(o.Members())
	slices.SortFunc(members, compareKeys)
	return members
}

// compareKeys orders members by key.
func compareKeys(a, b bundle.Member) int { return strings.Compare(a.Key, b.Key) }
