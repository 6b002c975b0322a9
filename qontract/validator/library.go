package validator

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// draft6 is the address of the Draft 6 metaschema.
const draft6 = "http://json-schema.org/draft-06/schema"

// scheme is the URL scheme under which the compiler knows the schema files of the bundle.
const scheme = "bundle"

// A library compiles the JSON schema files of a bundle, each schema once. Compiling is not
// safe for several goroutines; using compiled schemas is.
type library struct {
	docs            schemaDocs
	compiler        *jsonschema.Compiler
	nodes           map[*jsonschema.Schema]*schemaNode
	compiledSchemas map[string]compiledSchema
	patterns        []*pattern
}

// A compiledSchema is the result of compiling one schema.
type compiledSchema struct {
	node *schemaNode
	err  error
}

// schemaDocs are the schema files of a bundle by their paths. A file is decoded when it is first
// needed; several goroutines may do that.
type schemaDocs map[bundle.Path]func() *bundle.Object

// docsOf returns the schema files of a bundle.
func docsOf(b *bundle.Bundle) schemaDocs {
	docs := make(schemaDocs, len(b.JSONSchemas()))
	for _, f := range b.JSONSchemas() {
		docs[f.Path] = sync.OnceValue(f.Decode)
	}
	return docs
}

// has reports whether there is a schema file with a path.
func (d schemaDocs) has(p bundle.Path) bool { return d[p] != nil }

// get returns the decoded schema file with a path, or nil if there is none.
func (d schemaDocs) get(p bundle.Path) *bundle.Object {
	if decode, ok := d[p]; ok {
		return decode()
	}
	return nil
}

// A loader gives the schema files of a library to its compiler, by their URLs. It keeps the
// compiler from reading other files and from sending requests.
type loader struct {
	*library
	paths map[string]bundle.Path // by URL
}

// Load returns a schema file without its broken parts.
func (l loader) Load(location string) (any, error) {
	p, ok := l.paths[location]
	if !ok {
		return nil, errors.New("it is not in the bundle")
	}
	plain, _ := toPlain(l.docs.get(p)).(map[string]any)
	delete(plain, "$schema") // all schemas are compiled as Draft 6, whatever metaschema they name
	removeRepeatedEnumValues(plain)
	removeBroken(plain, l.brokenParts(p))
	return plain, nil
}

func newLibrary(b *bundle.Bundle) *library {
	l := &library{
		docs:            docsOf(b),
		compiler:        jsonschema.NewCompiler(),
		nodes:           map[*jsonschema.Schema]*schemaNode{},
		compiledSchemas: map[string]compiledSchema{},
	}
	l.compiler.DefaultDraft(jsonschema.Draft6)
	l.compiler.UseRegexpEngine(newPatternEngine())
	l.metaschema() // a compiler that loads cannot compile another schema meanwhile
	from := loader{l, make(map[string]bundle.Path, len(l.docs))}
	for p := range l.docs {
		if at := schemaURL(p, ""); !l.docs.has(from.paths[at]) || strings.HasPrefix(string(p), "/") {
			from.paths[at] = p // of two paths with one URL, the one with a slash
		}
	}
	l.compiler.UseLoader(from)
	return l
}

// metaschema returns the Draft 6 metaschema in the form of python-jsonschema, where an enum
// may be empty and may have repeated values.
func (l *library) metaschema() *schemaNode {
	n, err := l.compileURL(draft6)
	if err != nil || n.properties["enum"] == nil {
		return &schemaNode{} // impossible: the compiler contains this metaschema
	}
	n.properties["enum"].uniqueItems, n.properties["enum"].minItems = false, nil
	return n
}

// schemaURL returns the URL under which the compiler knows a place in a schema file.
func schemaURL(p bundle.Path, pointer string) string {
	u := url.URL{Scheme: scheme, Path: string(p), Fragment: pointer}
	if !strings.HasPrefix(u.Path, "/") {
		u.Path = "/" + u.Path
	}
	return u.String()
}

// parseSchemaURL is the reverse of schemaURL.
func parseSchemaURL(location string) (bundle.Path, string, bool) {
	u, err := url.Parse(location)
	if err != nil || u.Scheme != scheme {
		return "", "", false
	}
	return bundle.Path(u.Path), u.Fragment, true
}

// compile returns the schema at a place in a schema file.
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
		r.node = l.nodeFor(s)
	}
	l.compiledSchemas[location] = r
	return r.node, r.err
}

// compileSafely compiles a schema and turns a panic of the compiler into an error, because
// schemas of head are untrusted.
func (l *library) compileSafely(location string) (s *jsonschema.Schema, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it cannot be compiled: %v", p)
		}
	}()
	return l.compiler.Compile(location)
}
