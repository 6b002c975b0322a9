package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
)

// A maker makes the body of one type.
type maker struct {
	k        *kind
	seed     uint64
	secrets  map[string]string // values of the store of secrets, by place in the body
	canaries []string          // values that must not get out
	leaves   []leaf            // that the service takes another value of
	fixed    []leaf            // that it does not
	stack    []string          // the definitions around a value
	key      string            // the member that the next object must have
}

// A leaf is a text, a number or a truth value outside of lists.
type leaf struct {
	at   []string
	of   schema
	kind string
}

const maxDepth = 6

// bodyOf returns a body of a type.
func bodyOf(k *kind, seed uint64) (object, *maker) {
	m := &maker{k: k, seed: seed, secrets: map[string]string{}}
	v, _ := m.value(k.root(), nil, 0)
	return asObject(v), m
}

// draw returns a number below n that follows from the seed and a place.
func (m *maker) draw(place string, n uint64) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d %s %s", m.seed, m.k.name, place) // a hash takes everything
	return h.Sum64() % n
}

// value makes a value, and reports whether there is one.
func (m *maker) value(s spot, at []string, depth int) (any, bool) {
	place := "/" + strings.Join(at, "/")
	switch kind := s.put.kind(); kind {
	case "object":
		return m.object(s, at, depth)
	case "array":
		return m.list(s, at, depth)
	case "string", "integer", "number", "boolean":
		v, ok := m.scalar(s, kind, place)
		if !ok {
			return nil, false
		}
		if s.trait.secret && kind == "string" {
			m.secrets[place], _ = v.(string)
			m.canaries = append(m.canaries, m.secrets[place])
			return nil, false
		}
		m.note(s, at, kind)
		return v, true
	}
	return nil, false
}

// note remembers a leaf outside of lists and maps.
func (m *maker) note(s spot, at []string, kind string) {
	if s.doubtful && !s.trait.createOnly || strings.Contains(s.path, "*") ||
		s.put.get("enum") != nil && len(list(s.put.get("enum"))) < 2 {
		return
	}
	l := leaf{slices.Clone(at), s.put, kind}
	switch {
	case s.trait.createOnly:
		m.fixed = append(m.fixed, l)
	case !s.trait.writeOnly:
		m.leaves = append(m.leaves, l)
	}
}

// variant adds the layers of one variant of a discriminator, and returns the field and its value.
func (m *maker) variant(s spot, place string) (spot, string, string) {
	field := text(s.put.get("discriminator"))
	all := m.k.derived[s.put.id()]
	if field == "" || len(all) == 0 {
		return s, "", ""
	}
	one := all[m.draw("variant"+place, uint64(len(all)))]
	value := text(one.of["x-ms-discriminator-value"])
	if value == "" {
		value = one.at[strings.LastIndexByte(one.at, '/')+1:]
	}
	layers := m.k.layers(one, 0)
	s.put = schema{m.k.book, append(slices.Clone(layers), s.put.all...)}
	if s.get.is() && s.get.id() == s.put.id() {
		s.get = schema{m.k.book, append(slices.Clone(layers), s.get.all...)}
	}
	return s, field, value
}

func (m *maker) object(s spot, at []string, depth int) (any, bool) {
	place := "/" + strings.Join(at, "/")
	id := s.put.id()
	if depth > maxDepth || id != "" && slices.Contains(m.stack, id) {
		return nil, false
	}
	m.stack = append(m.stack, id)
	defer func() { m.stack = m.stack[:len(m.stack)-1] }()
	s, field, chosen := m.variant(s, place)
	out, key := object{}, m.key
	m.key = ""
	for _, name := range s.put.names() {
		inner := m.k.member(s, name)
		isNeeded := s.put.required(name) || name == key ||
			depth == 0 && (name == "properties" || name == "location" || name == "tags")
		switch {
		case name == field:
			out[name] = chosen
			continue
		case inner.trait.readOnly, !isNeeded && m.draw("has"+place+"/"+name, 2) == 0:
			continue
		}
		if v, ok := m.value(inner, append(slices.Clone(at), escape(name)), depth+1); ok {
			out[name] = v
		} else if isNeeded && s.put.required(name) && inner.put.kind() == "object" {
			out[name] = object{}
		}
	}
	if values := s.put.part("additionalProperties"); values.is() && len(out) == 0 {
		inner := m.k.inside(s, "additionalProperties")
		if v, ok := m.value(inner, append(slices.Clone(at), "k1"), depth+1); ok {
			out["k1"] = v
		}
	}
	return out, len(out) > 0
}

func (m *maker) list(s spot, at []string, depth int) (any, bool) {
	if depth > maxDepth || !s.put.part("items").is() {
		return nil, false
	}
	inner := m.k.inside(s, "items")
	name := ""
	if len(at) > 0 {
		name = at[len(at)-1]
	}
	count := 1
	how, key := orderOf(s.put, name)
	if how == unordered {
		count = 2
	}
	if least, ok := s.put.get("minItems").(float64); ok {
		count = max(count, int(least))
	}
	if most, ok := s.put.get("maxItems").(float64); ok {
		count = min(count, int(most))
	}
	var out []any
	for i := range count {
		m.key = key
		v, ok := m.value(inner, append(slices.Clone(at), fmt.Sprint(i)), depth+1)
		m.key = ""
		isSame := func(o any) bool {
			return canonical(o) == canonical(v) || key != "" && canonical(asObject(o)[key]) == canonical(asObject(v)[key])
		}
		if !ok || slices.ContainsFunc(out, isSame) {
			break
		}
		out = append(out, v)
	}
	return out, len(out) > 0
}

func canonical(v any) string {
	raw, _ := json.Marshal(v) // bodies always encode
	return string(raw)
}

// scalar makes a text, a number or a truth value.
func (m *maker) scalar(s spot, kind, place string) (any, bool) {
	if all := list(s.put.get("enum")); len(all) > 0 {
		return all[0], true
	}
	switch kind {
	case "boolean":
		return m.draw(place, 2) == 0, true
	case "integer", "number":
		return number(s.put, float64(m.draw(place, 50)+1))
	}
	name := place[strings.LastIndexByte(place, '/')+1:]
	isCanary := s.trait.writeOnly || s.trait.secret || looksSecret.MatchString(name)
	v, isFree := word(s.put, s.path, m.draw(place, 1_000_000), isCanary)
	if isCanary && isFree && v != "" {
		m.canaries = append(m.canaries, v)
	}
	return v, v != ""
}

// another returns another value of a leaf, nil if there is none.
func (l leaf) another(v any) any {
	for _, one := range list(l.of.get("enum")) {
		if one != v {
			return one
		}
	}
	if l.of.get("enum") != nil {
		return nil
	}
	switch v := v.(type) {
	case bool:
		return !v
	case float64:
		for _, to := range []float64{v + 1, v - 1} {
			if is, _ := number(l.of, to); is == any(to) {
				return to
			}
		}
	case string:
		if to, isFree := word(l.of, "x", 7, false); isFree && to != v {
			return to
		}
		if l.of.get("format") == nil && l.of.get("pattern") == nil {
			return "eastus"
		}
	}
	return nil
}

// with returns a body with another value at a place.
func with(body object, at []string, v any) object {
	out := maps.Clone(body)
	if out == nil {
		out = object{}
	}
	name := strings.NewReplacer("~1", "/", "~0", "~").Replace(at[0])
	if len(at) == 1 {
		out[name] = v
		return out
	}
	out[name] = with(asObject(out[name]), at[1:], v)
	return out
}

// at returns the value at a place.
func at(body any, path []string) any {
	for _, name := range path {
		body = asObject(body)[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
	}
	return body
}
