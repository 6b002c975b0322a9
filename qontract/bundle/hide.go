package bundle

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/app-sre/prcheck/internal/jsonpointer"
)

// Hide returns a change for people, with a text such as (secret 1) in the place of each value to
// which one of the JSON pointers leads: those of old into the old version, those of new into the
// new one. Equal values have equal texts, so both versions differ at the same places as before. A
// pointer that leads nowhere hides nothing. The files of the result have no raw text.
func (c Change) Hide(old, new []string) Change {
	if len(old)+len(new) == 0 {
		return c
	}
	h := hider{}
	c.Old, c.New = h.file(c.Old, old), h.file(c.New, new)
	return c
}

// A hider remembers the text of each hidden value, by the value.
type hider map[string]string

// file returns a file without the values of some pointers.
func (h hider) file(f *File, pointers []string) *File {
	if f == nil || len(pointers) == 0 {
		return f
	}
	var v any = f.Object()
	for _, p := range pointers {
		v = h.replace(v, jsonpointer.Split(p))
	}
	out := &File{Path: f.Path, Schema: f.Schema}
	object, isObject := v.(*Object)
	if !isObject { // the pointer of the whole file
		object = NewObject()
	}
	out.object.Store(object)
	return out
}

// replace returns a value with a text in the place of what is at the end of a path. What is on the
// way is copied.
func (h hider) replace(v any, path []string) any {
	if len(path) == 0 {
		return h.text(v)
	}
	switch of := v.(type) {
	case *Object:
		members := slices.Clone(of.members)
		for i := range members {
			if members[i].Key == path[0] {
				members[i].Value = h.replace(members[i].Value, path[1:])
			}
		}
		return ObjectOf(members)
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 || i >= len(of) {
			return v
		}
		out := slices.Clone(of)
		out[i] = h.replace(of[i], path[1:])
		return out
	}
	return v
}

// text returns what stands for a value.
func (h hider) text(v any) string {
	id := Canonical(v)
	if h[id] == "" {
		h[id] = fmt.Sprintf("(secret %d)", len(h)+1)
	}
	return h[id]
}
