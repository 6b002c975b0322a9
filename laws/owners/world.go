package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/owners/content"
	"github.com/app-sre/prcheck/owners/rules"
)

// A world is a file on both sides, and who may change what in it.
type world struct {
	*rand.Rand
	base, head any
	grants     []grant
}

// A grant lets people approve what a selector allows.
type grant struct {
	selectors []selector
	people    []string
}

var names = []string{"a", "b", "c", "__x"}

// newWorld makes a world.
func newWorld(seed, n uint64) *world {
	w := &world{Rand: rand.New(rand.NewPCG(seed, n))}
	w.base = w.object(0)
	w.head = w.edited(w.base, 0)
	for range 1 + w.IntN(3) {
		w.grants = append(w.grants, w.grant())
	}
	return w
}

func (w *world) grant() grant {
	var g grant
	for range 1 + w.IntN(2) {
		g.selectors = append(g.selectors, w.selector())
	}
	for range 1 + w.IntN(2) {
		g.people = append(g.people, fmt.Sprintf("p%d", w.IntN(4)))
	}
	return g
}

// selector makes a selector along a place of a side, made more general.
func (w *world) selector() selector {
	of := w.base
	if w.IntN(2) == 0 {
		of = w.head
	}
	var s selector
	for range w.IntN(4) {
		switch v := of.(type) {
		case map[string]any:
			if len(v) == 0 {
				return s
			}
			name := pick(w, slices.Sorted(maps.Keys(v)))
			s, of = append(s, part{name: name}), v[name]
		case []any:
			if len(v) == 0 {
				return s
			}
			at := w.IntN(len(v))
			p := part{item: at}
			of = v[at]
			o, _ := of.(map[string]any)
			n, _ := o["n"].(string)
			switch k := w.IntN(4); {
			case k == 0:
				p.item = at - len(v)
			case k == 1 && n != "":
				p = part{named: n}
			case k > 1:
				p = part{all: true}
			}
			s = append(s, p)
		default:
			return s
		}
	}
	return s
}

func pick[T any](w *world, of []T) T { return of[w.IntN(len(of))] }

// object makes an object.
func (w *world) object(depth int) map[string]any {
	out := map[string]any{}
	for range 1 + w.IntN(4) {
		out[pick(w, names)] = w.value(depth + 1)
	}
	return out
}

func (w *world) value(depth int) any {
	switch k := w.IntN(10); {
	case depth > 3 || k < 4:
		return w.scalar()
	case k < 6:
		if w.IntN(6) == 0 {
			return map[string]any{}
		}
		return w.object(depth)
	case k < 8:
		return w.items(depth)
	}
	out := []any{}
	for range w.IntN(4) {
		out = append(out, w.scalarOrObject(depth))
	}
	return out
}

func (w *world) scalar() any {
	return pick(w, []any{"x", "y", json.Number("1"), json.Number("2"), true, nil, ""})
}

func (w *world) scalarOrObject(depth int) any {
	if w.IntN(3) == 0 {
		return w.object(depth + 1)
	}
	return w.scalar()
}

// items makes a list of items with identities of their own.
func (w *world) items(depth int) []any {
	out := []any{}
	for _, id := range w.Perm(5)[:w.IntN(4)] {
		if w.IntN(4) == 0 {
			out = append(out, map[string]any{"$ref": fmt.Sprintf("/%d", id)})
			continue
		}
		o := map[string]any{"n": fmt.Sprint(id)}
		if w.IntN(2) == 0 {
			o["a"] = w.value(depth + 2)
		}
		out = append(out, identified(o))
	}
	return out
}

// identified gives an item the identity that bundlers make of its name.
func identified(o map[string]any) map[string]any {
	o["__identifier"] = o["n"]
	return o
}

// edited returns a value with some edits.
func (w *world) edited(v any, depth int) any {
	switch v := v.(type) {
	case map[string]any:
		return w.editedObject(v, depth)
	case []any:
		out := []any{}
		for _, item := range v {
			if w.IntN(7) > 0 {
				out = append(out, w.edited(item, depth+1))
			}
		}
		if w.IntN(4) == 0 {
			out = append(out, w.extra(v, depth))
		}
		if w.IntN(4) == 0 {
			w.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		}
		return out
	}
	if w.IntN(4) == 0 {
		return w.value(depth + 1)
	}
	return v
}

func (w *world) editedObject(v map[string]any, depth int) any {
	if depth > 0 && v["__identifier"] == nil && w.IntN(12) == 0 {
		return w.value(depth + 1)
	}
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		switch {
		case name == "__identifier" || name == "$ref":
			out[name] = v[name]
		case name == "n" && v["__identifier"] != nil:
			out[name] = v[name]
			if w.IntN(10) == 0 {
				out[name] = fmt.Sprint(5 + w.IntN(3))
				out["__identifier"] = out[name]
			}
		case w.IntN(8) > 0:
			out[name] = w.edited(v[name], depth+1)
		}
	}
	if id, isItem := out["n"].(string); isItem && v["__identifier"] != nil {
		out["__identifier"] = id
	}
	if w.IntN(5) == 0 && v["$ref"] == nil {
		out[pick(w, names)] = w.value(depth + 1)
	}
	return out
}

// extra makes an item for a list.
func (w *world) extra(like []any, depth int) any {
	for _, item := range like {
		if o, isObject := item.(map[string]any); isObject && (o["__identifier"] != nil || o["$ref"] != nil) {
			return identified(map[string]any{"n": fmt.Sprint(10 + w.IntN(90))})
		}
	}
	return w.scalarOrObject(depth)
}

// ref is the file of each world.
var ref = content.Ref{Kind: content.Datafile, Path: "/f.yml", Schema: "/s.yml"}

// rules makes the rules of the grants of a world.
func (w *world) rules(grants []grant) rules.Input {
	in := rules.Input{Today: "2026-01-01"}
	for i, g := range grants {
		name := fmt.Sprintf("t%d", i)
		t := rules.ChangeType{Name: name, ContextSchema: ref.Schema, Changes: []rules.ChangeRule{{}}}
		for _, s := range g.selectors {
			t.Changes[0].Selectors = append(t.Changes[0].Selectors, s.text())
		}
		role := rules.Role{Name: strings.Replace(name, "t", "r", 1), HasBots: true, Binds: []rules.Bind{{Type: name}}}
		for _, p := range g.people {
			role.People = append(role.People, rules.Person{Name: p})
		}
		in.Types, in.Roles = append(in.Types, t), append(in.Roles, role)
	}
	return in
}
