package validator

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"slices"
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

// resourceRef is the reference by which a schema says that a string is the path of a
// resource.
const resourceRef = "/common-1.json#/definitions/resourceref"

// A schemaNode is one schema, in a form that can be applied to values of package bundle. A
// pointer is nil if the schema does not have the keyword.
type schemaNode struct {
	constant *bool       // for the schemas true and false
	ref      *schemaNode // if not nil, all other keywords are ignored

	types                []string
	allowedValues        [][]any // one list for enum, and one for const
	allOf                []*schemaNode
	anyOf                []*schemaNode
	oneOf                []*schemaNode
	not                  *schemaNode
	required             []string
	properties           map[string]*schemaNode
	patternProperties    []patternProperty
	additionalProperties additional // additionalProperties
	propertyNames        *schemaNode
	dependencies         []dependency
	minProperties        *int
	maxProperties        *int
	items                *schemaNode
	tuple                []*schemaNode
	additionalItems      additional
	contains             *schemaNode
	minItems             *int
	maxItems             *int
	uniqueItems          bool
	minLength            *int
	maxLength            *int
	pattern              *pattern
	numberLimits         []numberLimit

	schemaRef      any  // $schemaRef: a string, or a *schemaNode
	isResourcePath bool // a string is the path of a resource
}

// An additional is the value of additionalProperties or additionalItems: false or a schema.
type additional struct {
	forbidden bool
	node      *schemaNode
}

type patternProperty struct {
	pattern *pattern
	node    *schemaNode
}

// A dependency says what an object with a certain key needs: other keys, or to fit a
// schema.
type dependency struct {
	key      string
	required []string
	node     *schemaNode
}

// A numberLimit is a keyword that limits numbers, such as minimum.
type numberLimit struct {
	words string // with the limit as it is written
	holds func(value bundle.Number) bool
}

// nodeFor returns the node for a compiled schema. It makes each node once, because schemas
// can refer to themselves.
func (l *library) nodeFor(s *jsonschema.Schema) *schemaNode {
	if s == nil {
		return nil
	}
	if n, ok := l.nodes[s]; ok {
		return n
	}
	n := &schemaNode{constant: s.Bool}
	l.nodes[s] = n
	l.readAnnotations(n, s)
	if s.Ref != nil {
		n.ref = l.nodeFor(s.Ref)
		return n
	}
	l.readGeneralKeywords(n, s)
	l.readObjectKeywords(n, s)
	l.readListKeywords(n, s)
	n.minLength, n.maxLength = s.MinLength, s.MaxLength
	n.pattern = l.keepPattern(s.Pattern, s.Location+"/pattern")
	n.numberLimits = makeNumberLimits(s, l.docOf(s))
	return n
}

// keepPattern records a pattern and its place in the schema.
func (l *library) keepPattern(re jsonschema.Regexp, where string) *pattern {
	p, ok := re.(*pattern)
	if !ok {
		return nil
	}
	p.location = where
	l.patterns = append(l.patterns, p)
	return p
}

// readAnnotations reads the keywords of qontract that JSON schema does not have.
func (l *library) readAnnotations(n *schemaNode, s *jsonschema.Schema) {
	doc := l.docOf(s)
	if doc == nil {
		return
	}
	p, at, _ := parseSchemaURL(s.Location)
	n.isResourcePath = doc.String("$ref") == resourceRef
	switch ref, _ := doc.Get("$schemaRef"); ref := ref.(type) {
	case string:
		n.schemaRef = ref
	case *bundle.Object:
		if target, err := l.compile(p, at+"/$schemaRef"); err == nil {
			n.schemaRef = target
		}
	}
}

// docOf returns a schema as it is written, nil if the bundle has no such object.
func (l *library) docOf(s *jsonschema.Schema) *bundle.Object {
	p, at, ok := parseSchemaURL(s.Location)
	if !ok {
		return nil
	}
	file := l.docs.get(p)
	if file == nil {
		return nil
	}
	v, _ := lookup(file, at)
	doc, _ := v.(*bundle.Object)
	return doc
}

func (l *library) readGeneralKeywords(n *schemaNode, s *jsonschema.Schema) {
	if s.Types != nil {
		n.types = s.Types.ToStrings()
	}
	if s.Enum != nil {
		enum, _ := fromPlain(s.Enum.Values).([]any)
		n.allowedValues = append(n.allowedValues, enum)
	}
	if s.Const != nil {
		n.allowedValues = append(n.allowedValues, []any{fromPlain(*s.Const)})
	}
	n.allOf, n.anyOf, n.oneOf = l.nodesFor(s.AllOf), l.nodesFor(s.AnyOf), l.nodesFor(s.OneOf)
	n.not = l.nodeFor(s.Not)
}

func (l *library) nodesFor(all []*jsonschema.Schema) []*schemaNode {
	out := make([]*schemaNode, 0, len(all))
	for _, s := range all {
		out = append(out, l.nodeFor(s))
	}
	return out
}

func (l *library) readObjectKeywords(n *schemaNode, s *jsonschema.Schema) {
	n.minProperties, n.maxProperties, n.required = s.MinProperties, s.MaxProperties, s.Required
	n.propertyNames = l.nodeFor(s.PropertyNames)
	if len(s.Properties) > 0 {
		n.properties = make(map[string]*schemaNode, len(s.Properties))
	}
	for key, sub := range s.Properties {
		n.properties[key] = l.nodeFor(sub)
	}
	for re, sub := range s.PatternProperties {
		if p := l.keepPattern(re, s.Location+"/patternProperties"); p != nil {
			n.patternProperties = append(n.patternProperties, patternProperty{p, l.nodeFor(sub)})
		}
	}
	slices.SortFunc(n.patternProperties, func(a, b patternProperty) int {
		return strings.Compare(a.pattern.text, b.pattern.text)
	})
	n.additionalProperties = l.makeAdditional(s.AdditionalProperties)
	for key, what := range s.Dependencies {
		d := dependency{key: key}
		switch what := what.(type) {
		case []string:
			d.required = what
		case *jsonschema.Schema:
			d.node = l.nodeFor(what)
		}
		n.dependencies = append(n.dependencies, d)
	}
	slices.SortFunc(n.dependencies, func(a, b dependency) int { return cmp.Compare(a.key, b.key) })
}

func (l *library) readListKeywords(n *schemaNode, s *jsonschema.Schema) {
	n.minItems, n.maxItems, n.uniqueItems = s.MinItems, s.MaxItems, s.UniqueItems
	n.contains = l.nodeFor(s.Contains)
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		n.items = l.nodeFor(items)
	case []*jsonschema.Schema:
		n.tuple = l.nodesFor(items)
		n.additionalItems = l.makeAdditional(s.AdditionalItems)
	}
}

func (l *library) makeAdditional(v any) additional {
	switch v := v.(type) {
	case bool:
		return additional{forbidden: !v}
	case *jsonschema.Schema:
		return additional{node: l.nodeFor(v)}
	}
	return additional{}
}

// makeNumberLimits returns the limits of a schema, which is written as doc.
func makeNumberLimits(s *jsonschema.Schema, doc *bundle.Object) []numberLimit {
	var out []numberLimit
	for _, of := range []struct {
		keyword  string
		compiled *big.Rat
		words    string
		holds    func(limit bundle.Number) func(bundle.Number) bool
	}{
		{"minimum", s.Minimum, "at least", compared(func(o int) bool { return o >= 0 })},
		{"maximum", s.Maximum, "at most", compared(func(o int) bool { return o <= 0 })},
		{"exclusiveMinimum", s.ExclusiveMinimum, "more than", compared(func(o int) bool { return o > 0 })},
		{"exclusiveMaximum", s.ExclusiveMaximum, "less than", compared(func(o int) bool { return o < 0 })},
		{"multipleOf", s.MultipleOf, "a multiple of", multipleOf},
	} {
		if of.compiled == nil {
			continue
		}
		limit := bundle.Number(of.compiled.RatString()) // of a metaschema: a whole number
		if doc != nil {
			v, _ := doc.Get(of.keyword)
			if n, ok := v.(bundle.Number); ok {
				limit = n
			}
		}
		out = append(out, numberLimit{of.words + " " + string(limit), of.holds(limit)})
	}
	return out
}
