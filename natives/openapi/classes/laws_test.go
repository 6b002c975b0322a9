package classes_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
)

// A world makes random specifications of one type.
type world struct {
	*rand.Rand
	definitions, elsewhere object
	n                      int
}

// schema returns a random schema of an object with at most some levels.
func (w *world) schema(levels int) object {
	properties := object{}
	for _, name := range []string{"alpha", "beta.x", "location", "key~/"} {
		if w.IntN(4) > 0 {
			properties[name] = w.mark(w.value(levels - 1))
		}
	}
	return object{"type": "object", "properties": properties}
}

func (w *world) value(levels int) object {
	if levels <= 0 {
		return object{"type": "string"}
	}
	switch w.IntN(4) {
	case 0:
		return object{"type": "array", "items": w.schema(levels)}
	case 1:
		return object{"type": "object", "additionalProperties": w.schema(levels)}
	case 2:
		return object{"type": "string", "format": []string{"password", "date-time", "int32"}[w.IntN(3)]}
	}
	return w.schema(levels)
}

// mark adds keywords that give classes.
func (w *world) mark(s object) object {
	switch w.IntN(8) {
	case 0:
		s["readOnly"] = true
	case 1:
		s["x-ms-mutability"] = [][]string{{"read"}, {"create", "read"}, {"create", "update"},
			{"create", "update", "read"}}[w.IntN(4)]
	case 2:
		s["x-ms-secret"] = true
	case 3:
		s["default"] = "d"
	}
	return s
}

// without returns a schema without some of its properties, as PATCH and GET have it.
func (w *world) without(s object) object {
	out := copied(s)
	for name, p := range out["properties"].(object) {
		switch w.IntN(4) {
		case 0:
			delete(out["properties"].(object), name)
		case 1:
			if p.(object)["properties"] != nil {
				out["properties"].(object)[name] = w.without(p.(object))
			}
		}
	}
	return out
}

func copied(s object) object {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	var out object
	if err := json.Unmarshal(raw, &out); err != nil {
		panic(err)
	}
	return out
}

// moved returns the same schema, written in another way: parts of it stand behind references,
// in another document, or in an allOf.
func (w *world) moved(s object) object {
	out := object{}
	for name, v := range s {
		out[name] = v
	}
	if properties, ok := s["properties"].(object); ok {
		all := object{}
		for name, p := range properties {
			all[name] = w.moved(p.(object))
		}
		out["properties"] = all
	}
	for _, name := range []string{"items", "additionalProperties"} {
		if inner, ok := s[name].(object); ok {
			out[name] = w.moved(inner)
		}
	}
	w.n++
	name := fmt.Sprintf("D%d", w.n)
	switch w.IntN(6) {
	case 0:
		w.definitions[name] = out
		return object{"$ref": "#/definitions/" + name}
	case 1:
		w.elsewhere[name] = out
		return object{"$ref": "sub/else%77here.json#/definitions/" + name}
	case 2:
		w.definitions[name] = out
		return object{"allOf": []any{object{"$ref": "#/definitions/" + name}}}
	case 3: // what marks it stands beside the reference
		beside := object{}
		for _, keyword := range []string{"readOnly", "x-ms-mutability", "x-ms-secret", "default"} {
			if v, ok := out[keyword]; ok {
				beside[keyword] = v
				delete(out, keyword)
			}
		}
		w.definitions[name] = out
		beside["$ref"] = "#/definitions/" + name
		return beside
	case 4: // half of it is in an allOf
		rest, ok := out["properties"].(object)
		if !ok || out["readOnly"] != nil {
			return out
		}
		first := object{}
		for name, p := range rest {
			if w.IntN(2) == 0 {
				first[name] = p
				delete(rest, name)
			}
		}
		out["allOf"] = []any{object{"type": "object", "properties": first}}
	}
	return out
}

// classesOf returns the classes of all properties of a type, as text.
func (w *world) classesOf(t *testing.T, get, put, patch object) []string {
	t.Helper()
	body := func(s object) object {
		return object{"parameters": []any{object{"name": "body", "in": "body", "schema": s}}}
	}
	item := object{"get": object{"responses": object{"200": object{"schema": get}}}, "put": body(put),
		"patch": body(patch)}
	spec := object{"swagger": "2.0", "definitions": w.definitions, "paths": object{"/things/{name}": item}}
	set := openapi.NewSet(func(name string, _ int64) ([]byte, error) {
		switch name {
		case "spec.json":
			return json.Marshal(spec)
		case "sub/elsewhere.json":
			// What moved there may refer back to what did not.
			raw, err := json.Marshal(object{"definitions": w.elsewhere})
			text := strings.ReplaceAll(string(raw), `"#/definitions/`, `"../spec.json#/definitions/`)
			return []byte(strings.ReplaceAll(text, `"sub/else%77here.json#`, `"#`)), err
		}
		return nil, fs.ErrNotExist
	}, openapi.Limits{})
	c, err := classes.New(typeAt(t, set, "spec.json", "/things/{name}"))
	if err != nil {
		t.Fatal(err)
	}
	all, isCut, err := c.All()
	if err != nil || isCut {
		t.Fatal(isCut, err)
	}
	var out []string
	for _, p := range all {
		text := p.Pattern
		for _, g := range []*classes.Ground{p.ReadOnly, p.CreateOnly, p.WriteOnly, p.Secret} {
			if g == nil {
				text += " -"
			} else {
				text += " " + string(g.Source) + g.From
			}
		}
		out = append(out, fmt.Sprint(text, p.List != nil, p.Default != nil, p.Format != nil))
	}
	return out
}

// How a specification is cut into parts does not change what it says.
func TestMovedIsSame(t *testing.T) {
	for seed := range uint64(100) {
		w := &world{Rand: rand.New(rand.NewPCG(seed, 1)), definitions: object{}, elsewhere: object{}}
		put := w.schema(4)
		get, patch := w.without(put), w.without(put)
		plain := w.classesOf(t, get, put, patch)
		moved := w.classesOf(t, w.moved(copied(get)), w.moved(copied(put)), w.moved(copied(patch)))
		if !slices.Equal(plain, moved) {
			t.Fatalf("seed %d: got\n%s\nwant\n%s", seed, strings.Join(moved, "\n"), strings.Join(plain, "\n"))
		}
	}
}

// No class contradicts another one: what the service fills in is neither create-only nor
// write-only by a difference between the bodies, and what PATCH takes is not create-only by
// one.
func TestClassesAgree(t *testing.T) {
	for seed := range uint64(100) {
		w := &world{Rand: rand.New(rand.NewPCG(seed, 2)), definitions: object{}, elsewhere: object{}}
		put := w.schema(4)
		for _, line := range w.classesOf(t, w.without(put), put, w.without(put)) {
			f := strings.Fields(line)
			if f[1] != "-" && (f[2] != "-" || f[3] == "inferred") {
				t.Fatalf("seed %d: %s", seed, line)
			}
		}
	}
}
