package main

import (
	"slices"
	"strings"
)

// A trait is what the service does with a property.
type trait struct {
	readOnly, writeOnly, createOnly, secret bool
}

// A spot is a property as the bodies of a type describe it.
type spot struct {
	put, get, patch schema
	path            string // a/b/*/c
	trait           trait
	acts            []any // x-ms-mutability of this place or of one around it
	patched         bool  // PATCH has it
	doubtful        bool  // PATCH takes others beside it: nobody knows whether it can be changed
}

// owned are the properties that the service alone sets.
var owned = []string{"id", "name", "type", "etag", "systemData", "properties/provisioningState"}

func (k *kind) root() spot {
	return spot{put: k.put, get: k.get, patch: k.patch,
		patched: k.hasPatch && k.patch.closed() && (k.patch.id() == "" || k.patch.id() != k.put.id())}
}

// member returns what is known of a member of an object.
func (k *kind) member(s spot, name string) spot {
	out := spot{put: s.put.property(name), get: s.get.property(name), patch: s.patch.property(name),
		path: strings.TrimPrefix(s.path+"/"+name, "/"), acts: s.acts}
	if !out.get.is() {
		out.get = s.get.part("additionalProperties")
	}
	return k.judged(s, out)
}

// inside returns what is known of the items of a list, or of the values of a map.
func (k *kind) inside(s spot, keyword string) spot {
	out := spot{put: s.put.part(keyword), get: s.get.part(keyword), patch: s.patch.part(keyword), path: s.path + "/*",
		acts: s.acts}
	return k.judged(s, out)
}

// judged fills in the traits of a property, which it inherits from what is around it.
func (k *kind) judged(around, out spot) spot {
	out.trait = around.trait
	patchActs := list(out.patch.get("x-ms-mutability"))
	out.patched = around.patched && out.patch.is() && (patchActs == nil || slices.Contains(patchActs, any("update")))
	out.doubtful = around.doubtful || k.hasPatch && k.patch.closed() && around.patch.closed() && !out.patch.is() &&
		out.path != "tags"
	if acts := list(out.put.get("x-ms-mutability")); acts == nil {
		acts = list(out.get.get("x-ms-mutability"))
		if acts != nil {
			out.acts = acts
		}
	} else {
		out.acts = acts
	}
	says := func(act string) bool { return len(out.acts) == 0 || slices.Contains(out.acts, any(act)) }
	t := &out.trait
	t.readOnly = t.readOnly || out.put.get("readOnly") == true || slices.Contains(owned, out.path) ||
		len(out.acts) > 0 && !says("create") && !says("update")
	t.secret = t.secret || out.put.get("x-ms-secret") == true || out.put.get("format") == "password" ||
		out.get.get("x-ms-secret") == true
	for _, j := range judged {
		if j.path == out.path && strings.EqualFold(j.name, k.name[:strings.IndexByte(k.name, '@')]) {
			t.readOnly, t.createOnly = t.readOnly || j.readOnly, t.createOnly || !j.readOnly
			return out
		}
	}
	isHidden := around.get.closed() && !out.get.is() || !says("read")
	t.writeOnly = t.writeOnly || isHidden || out.put.get("x-ms-secret") == true
	t.createOnly = out.path == "location" ||
		(t.createOnly && around.path != "location" || says("create") && !says("update")) && !out.patched && out.path != "tags"
	return out
}

// order says what a list means to the service.
type order int

const (
	inOrder order = iota
	unordered
)

// orderOf returns what a list means: texts that are a set, and items with declared keys or a name of their own, have
// no order.
func orderOf(s schema, name string) (order, string) {
	items := s.part("items")
	isText := slices.Contains([]string{"string", "integer"}, items.kind())
	switch ids, isDeclared := s.get("x-ms-identifiers").([]any); {
	case isText && (s.get("uniqueItems") == true || name == "zones"):
		return unordered, ""
	case isDeclared && len(ids) == 1:
		return unordered, strings.TrimPrefix(text(ids[0]), "/")
	case isDeclared:
		return inOrder, ""
	}
	if own := items.property("name"); own.kind() == "string" && own.get("readOnly") != true {
		return unordered, "name"
	}
	return inOrder, ""
}
