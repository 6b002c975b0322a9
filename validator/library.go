package validator

import (
	"errors"
	"fmt"
	"net/url"
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
	docs            map[bundle.Path]*bundle.Object
	compiler        *jsonschema.Compiler
	nodes           map[*jsonschema.Schema]*schemaNode
	compiledSchemas map[string]compiledSchema
	patterns        []*pattern
}

// A root is the outcome of compiling one schema.
type compiledSchema struct {
	node *schemaNode
	err  error
}

// refuse keeps the compiler from reading files or asking servers.
type refusingLoader struct{}

func (refusingLoader) Load(string) (any, error) { return nil, errors.New("it is not in the bundle") }

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
		docs:            schemaDocs(b),
		compiler:        jsonschema.NewCompiler(),
		nodes:           map[*jsonschema.Schema]*schemaNode{},
		compiledSchemas: map[string]compiledSchema{},
	}
	l.compiler.DefaultDraft(jsonschema.Draft6)
	l.compiler.UseLoader(refusingLoader{})
	l.compiler.UseRegexpEngine(newPatternEngine())
	for p, doc := range l.docs {
		plain, _ := toPlain(doc).(map[string]any)
		delete(plain, "$schema") // the dialect is Draft 6, whatever else the file must fit
		removeRepeatedEnumValues(plain)
		removeBroken(plain, l.brokenParts(p))
		// An address that is no address is found when the schema is compiled.
		_ = l.compiler.AddResource(schemaURL(p, ""), plain)
	}
	return l
}

// metaschema returns the metaschema of Draft 6 as python-jsonschema has it: an
// enum may hold anything.
func (l *library) metaschema() *schemaNode {
	n, err := l.compileURL(draft6)
	if err != nil || n.properties["enum"] == nil {
		return &schemaNode{} // never: the compiler brings it
	}
	n.properties["enum"].uniqueItems, n.properties["enum"].minItems = false, nil
	return n
}

// address is how the compiler knows a place in a schema file.
func schemaURL(p bundle.Path, pointer string) string {
	u := url.URL{Scheme: scheme, Path: string(p), Fragment: pointer}
	if !strings.HasPrefix(u.Path, "/") {
		u.Path = "/" + u.Path
	}
	return u.String()
}

// place is the other way round.
func parseSchemaURL(location string) (bundle.Path, string, bool) {
	u, err := url.Parse(location)
	if err != nil || u.Scheme != scheme {
		return "", "", false
	}
	return bundle.Path(u.Path), u.Fragment, true
}

// compile returns the schema at a place of a schema file.
func (l *library) compile(p bundle.Path, pointer string) (*schemaNode, error) {
	return l.compileURL(schemaURL(p, pointer))
}

func (l *library) compileURL(location string) (*schemaNode, error) {
	if r, ok := l.compiledSchemas[location]; ok {
		return r.node, r.err
	}
	s, err := l.compileSafely(location)
	r := compiledSchema{err: err}
	if err == nil {
		r.node = l.schemaNode(s)
	}
	l.compiledSchemas[location] = r
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
