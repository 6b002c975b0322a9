package realkube

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
)

// A gen makes random values of one property.
type gen interface {
	// any returns a random value, or absent.
	any(r *rand.Rand) any
	// vary returns a value that may differ from old, which may be absent.
	vary(r *rand.Rand, old any) any
	// part returns a value that sets little, or absent: what another manager applies.
	part(r *rand.Rand) any
}

// absent stands for a property that is not there.
type none struct{}

var absent any = none{}

func value(raw string) any {
	if raw == "" {
		return absent
	}
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	var out any
	if err := d.Decode(&out); err != nil {
		panic(raw + ": " + err.Error())
	}
	return out
}

// one is a choice of JSON texts. An empty text is absent.
type one []string

func oneOf(texts ...string) one { return texts }

func (g one) any(r *rand.Rand) any         { return value(g[r.IntN(len(g))]) }
func (g one) vary(r *rand.Rand, _ any) any { return g.any(r) }
func (g one) part(r *rand.Rand) any        { return g.any(r) }

// object is an object with members.
type object map[string]gen

func (g object) names() []string { return slices.Sorted(maps.Keys(g)) }

func (g object) build(of func(name string) any) any {
	out := map[string]any{}
	for _, name := range g.names() {
		if v := of(name); v != absent {
			out[name] = v
		}
	}
	return out
}

func (g object) any(r *rand.Rand) any {
	return g.build(func(name string) any { return g[name].any(r) })
}

func (g object) vary(r *rand.Rand, old any) any {
	was, _ := old.(map[string]any)
	return g.build(func(name string) any {
		v, ok := was[name]
		if !ok {
			v = absent
		}
		if _, isSimple := g[name].(one); isSimple && r.IntN(3) > 0 {
			return v
		}
		return g[name].vary(r, v)
	})
}

func (g object) part(r *rand.Rand) any {
	out := g.build(func(name string) any {
		if r.IntN(2) > 0 {
			return absent
		}
		return g[name].part(r)
	})
	if len(out.(map[string]any)) == 0 {
		return absent
	}
	return out
}

// some makes another gen absent in one of n cases.
type some struct {
	n int
	gen
}

func (g some) any(r *rand.Rand) any {
	if r.IntN(g.n) == 0 {
		return absent
	}
	return g.gen.any(r)
}

func (g some) vary(r *rand.Rand, old any) any {
	if r.IntN(3*g.n) == 0 {
		return absent
	}
	return g.gen.vary(r, old)
}

// keyed is a list of objects that are found by their keys. Each of items is what one item
// always has, as JSON text.
type keyed struct {
	items []string
	more  object
	least int // items that must be there
}

func (g keyed) any(r *rand.Rand) any { return g.vary(r, absent) }

func (g keyed) vary(r *rand.Rand, old any) any {
	var out []any
	was, _ := old.([]any)
	for i, text := range g.items {
		fixed := value(text).(map[string]any)
		j := slices.IndexFunc(was, func(v any) bool { return hasAll(v, fixed) })
		switch {
		case j >= 0 && r.IntN(4) > 0:
			out = append(out, join(fixed, g.more.vary(r, was[j])))
		case i < g.least || j < 0 && r.IntN(3) == 0:
			out = append(out, join(fixed, g.more.any(r)))
		}
	}
	if len(out) == 0 {
		return []any{absent, []any{}}[r.IntN(2)]
	}
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func (g keyed) part(r *rand.Rand) any {
	var out []any
	for _, text := range g.items {
		if r.IntN(3) > 0 {
			continue
		}
		item := g.more.part(r)
		if item == absent {
			item = map[string]any{}
		}
		out = append(out, join(value(text).(map[string]any), item))
	}
	if len(out) == 0 {
		return absent
	}
	return out
}

func hasAll(v any, want map[string]any) bool {
	have, _ := v.(map[string]any)
	for name, w := range want {
		if !reflect.DeepEqual(have[name], w) {
			return false
		}
	}
	return true
}

func join(a map[string]any, b any) map[string]any {
	out := maps.Clone(a)
	maps.Copy(out, b.(map[string]any))
	return out
}

// subset is some of a list of JSON texts, in any order.
type subset []string

func (g subset) any(r *rand.Rand) any { return g.vary(r, absent) }

func (g subset) vary(r *rand.Rand, old any) any {
	was, _ := old.([]any)
	var out []any
	for _, text := range g {
		v := value(text)
		isThere := slices.ContainsFunc(was, func(x any) bool { return reflect.DeepEqual(x, v) })
		if isThere && r.IntN(4) > 0 || !isThere && r.IntN(4) == 0 {
			out = append(out, v)
		}
	}
	if len(out) == 0 {
		return absent
	}
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func (g subset) part(r *rand.Rand) any { return g.vary(r, absent) }

// fixed is a value that never changes, and that others do not set.
type fixed string

func (g fixed) any(*rand.Rand) any       { return value(string(g)) }
func (g fixed) vary(*rand.Rand, any) any { return value(string(g)) }
func (g fixed) part(*rand.Rand) any      { return absent }
