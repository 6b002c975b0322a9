package validator

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/app-sre/prcheck/bundle"
)

// draft6 is the metaschema of JSON schemas.
const draft6 = "http://json-schema.org/draft-06/schema"

// scheme is that of the addresses by which the compiler knows schema files.
const scheme = "bundle"

// A library compiles the JSON schema files of a bundle, each once. It must not
// be used by several goroutines; what it has compiled may be.
type library struct {
	docs     map[bundle.Path]*bundle.Object
	compiler *jsonschema.Compiler
	nodes    map[*jsonschema.Schema]*node
	roots    map[string]root
	patterns []*pattern
}

// A root is the outcome of compiling one schema.
type root struct {
	node *node
	err  error
}

// refuse keeps the compiler from reading files or asking servers.
type refuse struct{}

func (refuse) Load(string) (any, error) { return nil, errors.New("it is not in the bundle") }

// schemaDocs returns the schema files of a bundle.
func schemaDocs(b *bundle.Bundle) map[bundle.Path]*bundle.Object {
	docs := make(map[bundle.Path]*bundle.Object, len(b.JSONSchemas()))
	for _, f := range b.JSONSchemas() {
		docs[f.Path] = f.Decode()
	}
	return docs
}

func newLibrary(b *bundle.Bundle) *library {
	l := &library{
		docs:     schemaDocs(b),
		compiler: jsonschema.NewCompiler(),
		nodes:    map[*jsonschema.Schema]*node{},
		roots:    map[string]root{},
	}
	l.compiler.DefaultDraft(jsonschema.Draft6)
	l.compiler.UseLoader(refuse{})
	l.compiler.UseRegexpEngine(patterns())
	for p, doc := range l.docs {
		plain, _ := toPlain(doc).(map[string]any)
		delete(plain, "$schema") // the dialect is Draft 6, whatever else the file must fit
		dropRepeats(plain)
		mend(plain, l.broken(p))
		// An address that is no address is found when the schema is compiled.
		_ = l.compiler.AddResource(address(p, ""), plain)
	}
	return l
}

// dropRepeats takes out values that an enum lists twice, which python-jsonschema
// allows.
func dropRepeats(v any) {
	switch v := v.(type) {
	case map[string]any:
		if enum, ok := v["enum"].([]any); ok {
			seen := map[string]bool{}
			v["enum"] = slices.DeleteFunc(enum, func(item any) bool {
				text := bundle.Canonical(normal(fromPlain(item)))
				twice := seen[text]
				seen[text] = true
				return twice
			})
		}
		for _, item := range v {
			dropRepeats(item)
		}
	case []any:
		for _, item := range v {
			dropRepeats(item)
		}
	}
}

// metaschema returns the metaschema of Draft 6 as python-jsonschema has it: an
// enum may hold anything.
func (l *library) metaschema() *node {
	n, err := l.compileAt(draft6)
	if err != nil || n.props["enum"] == nil {
		return &node{} // never: the compiler brings it
	}
	n.props["enum"].unique, n.props["enum"].minItems = false, nil
	return n
}

// address is how the compiler knows a place in a schema file.
func address(p bundle.Path, pointer string) string {
	u := url.URL{Scheme: scheme, Path: string(p), Fragment: pointer}
	if !strings.HasPrefix(u.Path, "/") {
		u.Path = "/" + u.Path
	}
	return u.String()
}

// place is the other way round.
func place(location string) (bundle.Path, string, bool) {
	u, err := url.Parse(location)
	if err != nil || u.Scheme != scheme {
		return "", "", false
	}
	return bundle.Path(u.Path), u.Fragment, true
}

// compile returns the schema at a place of a schema file.
func (l *library) compile(p bundle.Path, pointer string) (*node, error) {
	return l.compileAt(address(p, pointer))
}

func (l *library) compileAt(location string) (*node, error) {
	if r, ok := l.roots[location]; ok {
		return r.node, r.err
	}
	s, err := l.compileSafely(location)
	r := root{err: err}
	if err == nil {
		r.node = l.node(s)
	}
	l.roots[location] = r
	return r.node, r.err
}

// compileSafely turns a panic of the compiler into an error: the schemas come
// from the head side.
func (l *library) compileSafely(location string) (s *jsonschema.Schema, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it cannot be compiled: %v", p)
		}
	}()
	return l.compiler.Compile(location)
}

// toPlain turns a value into the types of encoding/json.
func toPlain(v any) any {
	switch v := v.(type) {
	case *bundle.Object:
		out := make(map[string]any, v.Len())
		for _, m := range v.Members() {
			out[m.Key] = toPlain(m.Value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = toPlain(v[i])
		}
		return out
	case bundle.Number:
		if r := rational(v); !r.IsInt() {
			f, _ := r.Float64()
			return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
		}
		return json.Number(v)
	}
	return v
}

// fromPlain is the other way round; the keys of objects have no order.
func fromPlain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := &bundle.Object{}
		for k, item := range v {
			out.Set(k, fromPlain(item))
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = fromPlain(v[i])
		}
		return out
	case json.Number:
		return bundle.Number(v)
	}
	return v
}
