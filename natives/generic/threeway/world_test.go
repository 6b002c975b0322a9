package threeway_test

import (
	"encoding/json"
	"math/rand/v2"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/openapi/classes"
)

// canary is in each secret of the world.
const canary = "cAnArY-0815"

// worldRules are the rules of the random bodies: each kind of rule at least once.
var worldTable = rules.Table{
	{At: "/id", Rule: rules.Rule{ReadOnly: true}},
	{At: "/etag", Rule: rules.Rule{Volatile: true}},
	{At: "/location", Rule: rules.Rule{CreateOnly: rules.Declared, Format: body.Location}},
	{At: "/p/zone", Rule: rules.Rule{CreateOnly: rules.Inferred}},
	{At: "/p/state", Rule: rules.Rule{ReadOnly: true}},
	{At: "/p/capacity", Rule: rules.Rule{Ignore: true}},
	{At: "/p/target", Rule: rules.Rule{Format: body.ARMID}},
	{At: "/p/timeout", Rule: rules.Rule{Format: body.Duration}},
	{At: "/p/port", Rule: rules.Rule{Default: json.Number("6379"), Applies: true}},
	{At: "/p/password", Rule: rules.Rule{WriteOnly: true, Secret: true}},
	{At: "/p/shown", Rule: rules.Rule{Secret: true}},
	{At: "/p/selector", Rule: rules.Rule{Atomic: true}},
	{At: "/p/nets", Rule: rules.Rule{List: classes.Map, Keys: []string{"name"}}},
	{At: "/p/nets/*/etag", Rule: rules.Rule{ReadOnly: true}},
	{At: "/p/nets/*/kind", Rule: rules.Rule{CreateOnly: rules.Declared}},
	{At: "/p/nets/*/ips", Rule: rules.Rule{List: classes.Set}},
	{At: "/p/nets/*/key", Rule: rules.Rule{Secret: true}},
	{At: "/p/ports", Rule: rules.Rule{List: classes.Map, Keys: []string{"port", "protocol"}}},
	{At: "/p/ports/*/protocol", Rule: rules.Rule{Default: "TCP"}},
	{At: "/p/ids", Rule: rules.Rule{List: classes.Set}},
	{At: "/p/ids/*", Rule: rules.Rule{Format: body.ARMID}},
	{At: "/p/only", Rule: rules.Rule{List: classes.Set, Exclusive: true}},
	{At: "/p/shape", Rule: rules.Rule{Discriminator: "kind", Variants: map[string][]string{
		"round": {"kind", "radius"}, "square": {"kind", "side", "angle"}}}},
}

var worldRules = rules.Cached(worldTable)

type object = map[string]any

// A world makes random bodies.
type world struct{ *rand.Rand }

func newWorld(seed uint64) world { return world{rand.New(rand.NewPCG(seed, 17))} }

func (w world) is(percent int) bool { return w.IntN(100) < percent }

func pick[T any](w world, all ...T) T { return all[w.IntN(len(all))] }

// some returns an object with about half of the members.
func (w world) some(percent int, members map[string]func() any) object {
	out := object{}
	for _, name := range sortedNames(members) {
		if w.is(percent) {
			out[name] = members[name]()
		}
	}
	return out
}

// body returns what the data, or an earlier version of them, may say.
func (w world) body() object {
	return w.some(75, map[string]func() any{
		"location": func() any { return pick(w, "westus", "West US", "eastus") },
		"tags":     w.tags,
		"p": func() any {
			return w.some(50, map[string]func() any{
				"zone":     func() any { return pick(w, "1", "2") },
				"capacity": w.number,
				"size":     w.number,
				"on":       func() any { return w.is(50) },
				"target":   func() any { return pick(w, "/s/a", "/S/A/", "/s/b") },
				"timeout":  func() any { return pick(w, "PT1H", "PT60M", "P1D", "1h") },
				"port":     func() any { return pick(w, json.Number("6379"), json.Number("6379.0"), json.Number("80")) },
				"password": func() any { return canary + pick(w, "1", "2") },
				"shown":    func() any { return canary + pick(w, "3", "4") },
				"selector": w.tags,
				"nets":     w.nets,
				"ports":    w.ports,
				"ids":      func() any { return w.list("/s/a", "/S/A", "/s/b", "/s/c") },
				"only":     func() any { return w.list("x", "y", "z") },
				"dns":      func() any { return w.list("x", "y", "z") },
				"shape":    w.shape,
			})
		},
	})
}

func (w world) number() any {
	return pick(w, json.Number("1"), json.Number("1.0"), json.Number("10e-1"), json.Number("9007199254740992"),
		json.Number("9007199254740993"), json.Number("0"))
}

func (w world) tags() any {
	return w.some(40, map[string]func() any{
		"a": func() any { return pick(w, "1", "2") }, "b/c": func() any { return pick(w, "1", "2") },
		"d~e": func() any { return pick(w, "", "2") }, "*": func() any { return "s" },
	})
}

func (w world) list(from ...string) any {
	out := []any{}
	for range w.IntN(4) {
		out = append(out, pick(w, from...))
	}
	return out
}

func (w world) nets() any {
	out := []any{}
	for _, name := range []string{"a", "b/x", "c", "d"} {
		if !w.is(50) {
			continue
		}
		net := w.some(50, map[string]func() any{
			"kind": func() any { return pick(w, "x", "y") }, "v": w.number,
			"ips": func() any { return w.list("1", "2", "3") }, "key": func() any { return canary + pick(w, "5", "6") },
			"deep": func() any { return object{"er": w.tags()} },
		})
		net["name"] = name
		out = append(out, net)
	}
	w.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func (w world) ports() any {
	out := []any{}
	for _, one := range []object{{"port": json.Number("80")}, {"port": json.Number("80"), "protocol": "UDP"},
		{"port": json.Number("443"), "protocol": "TCP"}} {
		if w.is(50) {
			one["v"] = w.number()
			out = append(out, one)
		}
	}
	return out
}

func (w world) shape() any {
	if w.is(50) {
		return object{"kind": "round", "radius": w.number()}
	}
	return w.some(70, map[string]func() any{
		"kind": func() any { return "square" }, "side": w.number, "angle": w.number,
	})
}

// edited returns a body in which about a part of the members is as in another one.
func (w world) edited(v any, percent int) any {
	return w.mix(v, w.body(), percent)
}

func (w world) mix(a, b any, percent int) any {
	x, isObject := a.(object)
	y, isOther := b.(object)
	if !isObject || !isOther {
		if w.is(percent) {
			return b
		}
		return a
	}
	out := object{}
	for _, name := range sortedNames(x, y) {
		v, inX := x[name]
		other, inY := y[name]
		switch {
		case inX && inY:
			out[name] = w.mix(v, other, percent)
		case inX && !w.is(percent), inY && w.is(percent):
			out[name] = map[bool]any{true: v, false: other}[inX]
		}
	}
	return out
}

// withNulls returns a body that clears some members.
func (w world) withNulls(v any) any {
	members, ok := v.(object)
	if !ok {
		return v
	}
	out := object{}
	for _, name := range sortedNames(members) {
		if out[name] = w.withNulls(members[name]); w.is(4) {
			out[name] = nil
		}
	}
	return out
}
