package affected

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// shapes are selectors of one integration each, from real ones to strange
// ones.
var shapes = [][]string{
	{"items[*].key"},
	{"state.*.shard"},
	{"accounts[*].name", "roles[*].aws_groups[*].account.name", "roles[*].user_policies[*].account.name"},
	{"clusters[*].name", "clusters[*].namespaces[*].team"},
	{"clusters[*].peering.connections[*].account.name", "clusters[*].peering.connections[*].vpc"},
	{"[*].name"},
	{"*.name", "*.list[*].owner.name"},
	{"a[*].b[*].c[*].key"},
	{"grid[*][*].key"},
	{"m.*.l[*].k", "m.x.extra[*].k"},
	{"a.b[*].k", "'a.b'[*].k"},
	{"pairs[*].from", "pairs[*].to"},
}

// A maker makes random states that fit selectors, from few words, so that
// equal parts are common.
type maker struct {
	*rand.Rand
	selectors []settings.Selector
	bad       bool // make some keys that cannot be used
}

func newMaker(one, two uint64) maker {
	m := maker{Rand: rand.New(rand.NewPCG(one, two))}
	for _, text := range shapes[m.IntN(len(shapes))] {
		s, err := settings.ParseSelector(text)
		if err != nil {
			panic(err)
		}
		m.selectors = append(m.selectors, s)
	}
	m.bad = m.IntN(3) == 0
	return m
}

func (m maker) documents() []any {
	out := make([]any, 1+m.IntN(2))
	for i := range out {
		out[i] = m.value(naive{selectors: m.selectors}.ways())
	}
	return out
}

// value makes a value that the ways lead into.
func (m maker) value(ways []way) any {
	switch {
	case len(ways) == 0:
		return m.noise()
	case len(ways[0]) == 0:
		return m.key()
	case m.IntN(40) == 0:
		return m.noise()
	case ways[0][0].Kind == settings.Items:
		list := []any{}
		for range (1 + m.IntN(9)) / 2 {
			list = append(list, m.value(onward(ways, settings.Items, "")))
		}
		return list
	}
	return m.object(ways)
}

func (m maker) object(ways []way) any {
	o := map[string]any{}
	if m.IntN(6) == 0 {
		o["v"] = m.noise()
	}
	names := []string{"x", "y", "z"}[:m.IntN(4)]
	if ways[0][0].Kind == settings.Field {
		names = nil
	}
	for _, w := range ways {
		if w := w; len(w) > 0 && w[0].Kind == settings.Field && m.IntN(30) > 0 {
			names = append(names, w[0].Name)
		}
	}
	wild := onward(ways, settings.Members, "")
	for _, name := range names {
		o[name] = m.value(slices.Concat(wild, onward(ways, settings.Field, name)))
	}
	return o
}

func (m maker) key() any {
	if m.bad && m.IntN(6) == 0 {
		strange := []any{nil, 7, "", "-a", "{cmd}", "a\nb", strings.Repeat("k", 254), true, []any{"a"}}
		return strange[m.IntN(len(strange))]
	}
	return string(rune('a' + m.IntN(4)))
}

func (m maker) noise() any {
	noises := []any{nil, 1, 2, "t", []any{}, []any{1, 2}, []any{2, 1}, []any{1, 1, 2}, map[string]any{},
		map[string]any{"d": 1}}
	return clone(noises[m.IntN(len(noises))])
}

// A slot is a place in a document that can be read and changed.
type slot struct {
	get func() any
	set func(any)
}

// slots returns all places of the documents, the inner ones last.
func slots(at slot) []slot {
	out := []slot{at}
	switch v := at.get().(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			out = append(out, slots(slot{func() any { return v[k] }, func(n any) { v[k] = n }})...)
		}
	case []any:
		for i := range v {
			out = append(out, slots(slot{func() any { return v[i] }, func(n any) { v[i] = n }})...)
		}
	}
	return out
}

// change changes the documents a little, at random.
func (m maker) change(documents []any) {
	var all []slot
	for i := range documents {
		all = append(all, slots(slot{func() any { return documents[i] }, func(n any) { documents[i] = n }})...)
	}
	if m.IntN(4) > 0 { // mostly lists with something in them
		lists := slices.DeleteFunc(slices.Clone(all), func(s slot) bool {
			v, ok := s.get().([]any)
			if !ok || len(v) == 0 {
				return true
			}
			_, ok = v[0].(map[string]any)
			return !ok
		})
		if len(lists) > 0 {
			all = lists
		}
	}
	one, other := all[m.IntN(len(all))], all[m.IntN(len(all))]
	switch v := one.get().(type) {
	case []any:
		m.changeList(v, one, other)
	case map[string]any:
		if m.IntN(2) == 0 && len(v) > 0 {
			delete(v, sortedKeys(v)[m.IntN(len(v))])
			return
		}
		v["v"] = m.noise()
	case string:
		one.set(m.key())
	default:
		one.set(m.noise())
	}
}

func (m maker) changeList(v []any, one, other slot) {
	if len(v) == 0 {
		return
	}
	i := m.IntN(len(v))
	switch m.IntN(6) {
	case 0:
		m.Shuffle(len(v), func(i, j int) { v[i], v[j] = v[j], v[i] })
	case 1:
		one.set(slices.Delete(slices.Clone(v), i, i+1))
	case 2:
		one.set(append(slices.Clone(v), clone(v[i])))
	case 3:
		if o, ok := v[i].(map[string]any); ok {
			o["v"] = m.noise()
		}
	default: // to another list
		if to, ok := other.get().([]any); ok {
			item := clone(v[i])
			one.set(slices.Delete(slices.Clone(v), i, i+1))
			other.set(append(slices.Clone(to), item))
		}
	}
}

// shuffle changes the order of every list in a value.
func (m maker) shuffle(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			m.shuffle(v[k])
		}
	case []any:
		for _, item := range v {
			m.shuffle(item)
		}
		m.Shuffle(len(v), func(i, j int) { v[i], v[j] = v[j], v[i] })
	}
}

func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, m := range v {
			out[k] = clone(m)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = clone(v[i])
		}
		return out
	}
	return v
}

// real turns plain documents into those that Attribute takes. The keys of
// objects come in any order.
func (m maker) real(documents []any) []any {
	out := make([]any, len(documents))
	for i, d := range documents {
		out[i] = m.realValue(d)
	}
	return out
}

func (m maker) realValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		keys := sortedKeys(v)
		m.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		o := bundle.NewObject()
		for _, k := range keys {
			o.Set(k, m.realValue(v[k]))
		}
		return o
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = m.realValue(v[i])
		}
		return out
	case int:
		return bundle.Number(fmt.Sprint(v))
	}
	return v
}

func show(t *testing.T, documents []any) string {
	t.Helper()
	raw, err := json.Marshal(documents)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
