package main

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// get answers what the service shows of a thing.
func (s *service) get(r *http.Request, k *kind, t *thing) *http.Response {
	if t == nil || s.now().Before(t.shown) && t.before == nil {
		return answer(r, http.StatusNotFound, object{"error": object{"code": "ResourceNotFound"}})
	}
	shown := *t
	var etag []string
	if s.now().Before(t.shown) {
		shown.store, shown.version = t.before, t.version-1
	}
	if s.draw(k, "etag", 2) == 0 {
		etag = []string{"ETag", `"` + strings.Repeat("v", shown.version) + `"`}
	}
	return answer(r, http.StatusOK, s.view(&shown), etag...)
}

// view returns a thing as the service shows it.
func (s *service) view(t *thing) object {
	m := &maker{k: t.kind, seed: s.nasty + 1}
	out := asObject(t.kind.shown(t.kind.root(), t.store, m, nil, ""))
	if out == nil {
		out = object{}
	}
	parts := strings.Split(t.kind.id, "/")
	out["id"], out["name"] = strings.ToUpper(t.kind.id[:5])+t.kind.id[5:], parts[len(parts)-1]
	if t.kind.hasState() {
		properties := maps.Clone(asObject(out["properties"]))
		if properties == nil {
			properties = object{}
		}
		properties["provisioningState"] = t.state
		out["properties"] = properties
	}
	return out
}

// shown returns a value as GET answers it.
func (k *kind) shown(s spot, v any, m *maker, at []string, name string) any {
	switch v := v.(type) {
	case object:
		return k.shownObject(s, v, m, at)
	case []any:
		inner := k.inside(s, "items")
		out := make([]any, 0, len(v))
		for _, item := range v {
			out = append(out, k.shown(inner, item, m, append(slices.Clone(at), "i"), ""))
		}
		if how, _ := orderOf(s.put, name); how == unordered {
			slices.Reverse(out)
		}
		return out
	case string:
		switch {
		case strings.HasPrefix(v, "/subscriptions/"):
			return strings.ToLower(v)
		case name == "location":
			return strings.ToLower(strings.ReplaceAll(v, " ", ""))
		}
	}
	return v
}

func (k *kind) shownObject(s spot, v object, m *maker, at []string) any {
	s = k.ofVariant(s, v)
	out := object{}
	isMap := len(s.put.names()) == 0
	for name, inner := range v {
		of := k.member(s, name)
		if isMap {
			of = k.inside(s, "additionalProperties")
		}
		if !of.trait.writeOnly {
			out[name] = k.shown(of, inner, m, append(slices.Clone(at), name), name)
		}
	}
	for _, name := range slices.Concat(s.put.names(), s.get.names()) {
		of := k.member(s, name)
		kind := of.put.kind()
		if !of.put.is() {
			kind, of.put = of.get.kind(), of.get
		}
		if _, isThere := out[name]; isThere || of.trait.writeOnly ||
			!slices.Contains([]string{"string", "integer", "number", "boolean"}, kind) || v[name] != nil {
			continue
		}
		if filled, ok := m.scalar(of, kind, "/"+strings.Join(append(slices.Clone(at), name), "/")); ok {
			out[name] = filled
		}
	}
	return out
}

// ofVariant adds the layers of the variant that an object is.
func (k *kind) ofVariant(s spot, v object) spot {
	field := text(s.put.get("discriminator"))
	for _, one := range k.derived[s.put.id()] {
		value := text(one.of["x-ms-discriminator-value"])
		if value == "" {
			value = one.at[strings.LastIndexByte(one.at, '/')+1:]
		}
		if field != "" && value == text(v[field]) {
			layers := k.layers(one, 0)
			s.put = schema{k.book, append(slices.Clone(layers), s.put.all...)}
			if s.get.is() && s.get.id() == s.put.id() {
				s.get = schema{k.book, append(slices.Clone(layers), s.get.all...)}
			}
			return s
		}
	}
	return s
}

// taken returns a body without what is read-only, and without nulls in a PUT.
func (k *kind) taken(s spot, v any) any {
	switch v := v.(type) {
	case object:
		s = k.ofVariant(s, v)
		out := object{}
		for name, inner := range v {
			of := k.member(s, name)
			if len(s.put.names()) == 0 {
				of = k.inside(s, "additionalProperties")
			}
			if !of.trait.readOnly {
				out[name] = k.taken(of, inner)
			}
		}
		return out
	case []any:
		inner := k.inside(s, "items")
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = k.taken(inner, item)
		}
		return out
	}
	return v
}

// moved returns the path of a create-only value that a body changes, "" if there is none. One that is left out stays.
func (k *kind) moved(s spot, old, next any) string {
	was, wasObject := old.(object)
	is, isObject := next.(object)
	if wasObject && isObject && len(s.put.names()) > 0 {
		s = k.ofVariant(s, is)
		for _, name := range slices.Sorted(maps.Keys(is)) {
			if at := k.moved(k.member(s, name), was[name], is[name]); at != "" {
				return at
			}
		}
		return ""
	}
	if how, _ := orderOf(s.put, s.path); how == unordered {
		old, next = sorted(old), sorted(next)
	}
	if s.trait.createOnly && next != nil && old != nil && plain(old) != plain(next) {
		return s.path
	}
	return ""
}

// sorted returns a list without its order.
func sorted(v any) any {
	return slices.SortedFunc(slices.Values(list(v)), func(a, b any) int {
		return strings.Compare(canonical(a), canonical(b))
	})
}

// plain returns the canonical text of a value, with ids and locations in one case.
func plain(v any) string {
	return strings.ReplaceAll(strings.ToLower(canonical(v)), " ", "")
}

// kept returns a new body with the create-only values that it left out.
func (k *kind) kept(s spot, old, next any) any {
	was, is := asObject(old), asObject(next)
	if was == nil || is == nil {
		return next
	}
	out := maps.Clone(is)
	for _, name := range slices.Sorted(maps.Keys(was)) {
		of := k.member(s, name)
		if _, isThere := out[name]; isThere {
			out[name] = k.kept(of, was[name], out[name])
		} else if of.trait.createOnly && of.path != "location" || of.path == "location" {
			out[name] = was[name]
		}
	}
	return out
}

// merged lays a merge patch over a body.
func merged(body, patch object) object {
	out := maps.Clone(body)
	if out == nil {
		out = object{}
	}
	for name, v := range patch {
		switch inner := v.(type) {
		case nil:
			delete(out, name)
		case object:
			out[name] = merged(asObject(out[name]), inner)
		default:
			out[name] = v
		}
	}
	return out
}

// foreign returns the path of a value that a schema does not take, "" if there is none.
func foreign(s schema, body object, at string) string {
	for _, name := range slices.Sorted(maps.Keys(body)) {
		inner := s.property(name)
		if !inner.is() {
			if inner = s.part("additionalProperties"); !inner.is() && s.closed() {
				return at + name
			}
		}
		if below, ok := body[name].(object); ok && inner.is() {
			if found := foreign(inner, below, at+name+"."); found != "" {
				return found
			}
		}
	}
	return ""
}
