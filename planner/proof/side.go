package proof

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

type (
	object = map[string]any
	list   = []any
)

// A side is one bundle as plain values: nil, bool, json.Number, string, list and object.
type side struct {
	bundle                   *bundle.Bundle
	data, resources, schemas map[string]object // by path
	types                    any               // GraphQL types
	definitions              map[string]*definition
	schema                   *gql.Schema
	engine                   *gql.Engine
	server                   Answerer // answers in place of the engine, or nil
}

// readSide decodes a bundle.
func readSide(b *bundle.Bundle, server Answerer, definitionSchema bundle.SchemaPath) (*side, error) {
	s := &side{bundle: b, types: plain(b.GraphQL()), server: server, definitions: map[string]*definition{}}
	for _, section := range []struct {
		to    *map[string]object
		files []*bundle.File
	}{{&s.data, b.Datafiles()}, {&s.resources, b.Resources()}, {&s.schemas, b.JSONSchemas()}} {
		*section.to = map[string]object{}
		for _, f := range section.files {
			o, err := decode(f.Raw())
			if err != nil {
				return nil, fmt.Errorf("decoding %q: %w", f.Path, err)
			}
			o["path"] = string(f.Path) // as the server does
			(*section.to)[string(f.Path)] = o
		}
	}
	for path, file := range s.data {
		if text(file, "$schema") == string(definitionSchema) {
			d := newDefinition(path, file)
			s.definitions[d.name] = d
		}
	}
	var err error
	if s.schema, err = gql.NewSchema(b.GraphQL()); err == nil {
		s.engine = gql.New(b, s.schema)
	} else if server == nil {
		return nil, err
	}
	return s, nil
}

// decode decodes a JSON object; numbers stay as they are written.
func decode(raw []byte) (object, error) {
	var out object
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return out, d.Decode(&out)
}

// plain turns a value of a bundle or of an answer into plain values.
func plain(v any) any {
	switch v := v.(type) {
	case *bundle.Object:
		if v == nil {
			return nil
		}
		out := object{}
		for _, m := range v.Members() {
			out[m.Key] = plain(m.Value)
		}
		return out
	case []any:
		out := make(list, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		return out
	case bundle.Number:
		return json.Number(v)
	}
	return v
}

// text returns a member that is a string, or else "".
func text(o object, key string) string {
	s, _ := o[key].(string)
	return s
}

// A definition is a datafile that defines an integration.
type definition struct {
	name, path string
	file       object
	schemas    map[string]bool // that it may read
	check      object          // its pr_check; nil when it has none
}

func newDefinition(path string, file object) *definition {
	d := &definition{name: text(file, "name"), path: path, file: file, schemas: map[string]bool{}}
	if d.name == "" {
		d.name = path
	}
	allowed, _ := file["schemas"].(list)
	for _, s := range allowed {
		if s, ok := s.(string); ok {
			d.schemas[s] = true
		}
	}
	if file["pr_check"] != nil {
		if d.check, _ = file["pr_check"].(object); d.check == nil {
			d.check = object{} // it is not an object, and runs in every way
		}
	}
	return d
}

// isOff tells whether there is no dry-run: no pr_check, or a disabled one.
func (d *definition) isOff() bool { return d.check == nil || d.check["disabled"] == true }

// says tells whether pr_check has a key with any value but false and null.
func (d *definition) says(key string) bool {
	v := d.check[key]
	return v != nil && v != false
}
