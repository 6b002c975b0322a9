package validator

import (
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/internal/jsonpointer"
)

// checkSchema checks a JSON schema file: its metaschema, that of Draft 6, and
// whatever it refers to.
func (c *checker) checkSchema(f *bundle.File) []Finding {
	at := Finding{Section: Schemas, Path: f.Path, Rule: SchemaBroken}
	found := c.checkMetaschema(at, c.library.docs[f.Path])
	found = append(found, c.library.broken(f.Path)...)
	if _, err := c.library.compile(f.Path, ""); err != nil && len(found) == 0 && !aboutAnother(err, f.Path) {
		at.Message = strings.ReplaceAll(firstLine(err.Error()), scheme+"://", "")
		found = append(found, at)
	}
	return found
}

// broken tells what of a schema file is no schema, and what it refers to that is
// not there.
func (l *library) broken(p bundle.Path) []Finding {
	_, found := evaluate(Finding{Section: Schemas, Path: p, Rule: SchemaBroken}, l.metaschema(), l.docs[p])
	s := schemaWalk{l: l, path: p}
	s.schema(l.docs[p])
	return append(found, s.found...)
}

// mend takes out of a schema what is broken, so that files can be checked
// against the rest.
func mend(doc any, broken []Finding) {
	for _, f := range broken {
		parts := jsonpointer.Split(f.Pointer)
		if len(parts) == 0 {
			continue
		}
		parent, ok := plainAt(doc, parts[:len(parts)-1])
		last := parts[len(parts)-1]
		switch parent := parent.(type) {
		case map[string]any:
			delete(parent, last)
		case []any:
			if i, err := strconv.Atoi(last); ok && err == nil && i < len(parent) {
				parent[i] = map[string]any{}
			}
		}
	}
}

// plainAt follows the parts of a pointer.
func plainAt(v any, parts []string) (any, bool) {
	for _, part := range parts {
		switch at := v.(type) {
		case map[string]any:
			v = at[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(at) {
				return nil, false
			}
			v = at[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// aboutAnother tells whether an error is that of a schema file which is referred
// to: it is told there.
func aboutAnother(err error, p bundle.Path) bool {
	var invalid *jsonschema.SchemaValidationError
	if !errors.As(err, &invalid) {
		return false
	}
	file, _, ok := place(invalid.URL)
	return ok && file != p
}

func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}

// checkMetaschema checks a schema against the metaschema that it names.
func (c *checker) checkMetaschema(at Finding, doc *bundle.Object) []Finding {
	v, ok := doc.Get("$schema")
	if !ok {
		at.Rule, at.Message = SchemaNoMetaschema, "the key $schema is missing: it names the metaschema"
		return []Finding{at}
	}
	name, _ := v.(string)
	if strings.TrimSuffix(name, "#") == draft6 {
		return nil
	}
	meta := bundle.Path(name)
	if c.library.docs[meta] == nil {
		at.Rule, at.Pointer = SchemaMetaschemaGone, "/$schema"
		at.Message = show(v) + " is neither the path of a metaschema nor " + draft6
		return []Finding{at}
	}
	n, err := c.library.compile(meta, "")
	if err != nil {
		return nil // what is wrong is told with the metaschema
	}
	at.Rule = SchemaInvalid
	_, found := evaluate(at, n, doc)
	return found
}

// A schemaWalk goes through the schemas of one schema file.
type schemaWalk struct {
	l     *library
	path  bundle.Path
	at    []step
	found []Finding
}

func (s *schemaWalk) add(message string) {
	s.found = append(s.found, Finding{Section: Schemas, Path: s.path, Pointer: pointer(s.at), Rule: SchemaBroken, Message: message})
}

func (s *schemaWalk) into(to step, visit func()) {
	s.at = append(s.at, to)
	visit()
	s.at = s.at[:len(s.at)-1]
}

// schema visits one schema, or what stands in its place.
func (s *schemaWalk) schema(v any) {
	o, ok := v.(*bundle.Object)
	if !ok {
		return // the metaschema has told
	}
	for _, m := range o.Members() {
		s.into(step{key: m.Key}, func() { s.keyword(m) })
	}
}

// keyword visits the value of one keyword.
func (s *schemaWalk) keyword(m bundle.Member) {
	switch m.Key {
	case "$ref":
		s.reference(m.Value)
	case "$schemaRef":
		s.target(m.Value)
	case "pattern":
		s.pattern(m.Value)
	case "properties", "patternProperties", "definitions", "dependencies":
		o, ok := m.Value.(*bundle.Object)
		if !ok {
			return
		}
		for _, sub := range o.Members() {
			s.into(step{key: sub.Key}, func() {
				if m.Key == "patternProperties" {
					s.pattern(sub.Key)
				}
				s.schema(sub.Value)
			})
		}
	case "additionalProperties", "additionalItems", "items", "contains", "not", "propertyNames", "allOf", "anyOf", "oneOf":
		list, ok := m.Value.([]any)
		if !ok {
			s.schema(m.Value)
		}
		for i, sub := range list {
			s.into(step{index: i, item: true}, func() { s.schema(sub) })
		}
	}
}

func (s *schemaWalk) pattern(v any) {
	text, ok := v.(string)
	if !ok {
		return
	}
	if _, err := newPattern(text); err != nil {
		s.add("the pattern " + show(text) + " does not compile: " + firstLine(err.Error()))
	}
}

// target checks the schema that targets of references must have.
func (s *schemaWalk) target(v any) {
	switch v := v.(type) {
	case string:
		if s.l.docs[bundle.Path(v)] == nil {
			s.add(show(v) + " is not the path of a schema")
		}
	case *bundle.Object:
		s.schema(v)
	default:
		s.add(show(v) + " is neither the path of a schema nor a schema")
	}
}

// reference checks that what a $ref names exists.
func (s *schemaWalk) reference(v any) {
	text, ok := v.(string)
	if !ok {
		return // the metaschema has told
	}
	base := url.URL{Scheme: scheme, Path: string(s.path)}
	u, err := base.Parse(text)
	if err != nil {
		s.add(show(text) + " is not an address")
		return
	}
	if u.Scheme != scheme {
		if !strings.HasPrefix(text, draft6) {
			s.add(show(text) + " is not in the bundle")
		}
		return
	}
	doc := s.l.docs[bundle.Path(u.Path)]
	if doc == nil {
		s.add(show(u.Path) + " is not the path of a schema")
		return
	}
	if strings.HasPrefix(u.Fragment, "/") {
		if _, ok := lookup(doc, u.Fragment); !ok {
			s.add(show(u.Path) + " has nothing at " + show(u.Fragment))
		}
	}
}

// slowPatterns tells the patterns that were given up on some text.
func (c *checker) slowPatterns() []Finding {
	var out []Finding
	for _, p := range c.library.patterns {
		path, at, ok := place(p.where)
		if !p.slow.Load() || !ok {
			continue
		}
		out = append(out, Finding{Section: Schemas, Path: path, Pointer: at, Rule: SchemaBroken,
			Message: "the pattern " + show(p.text) + " takes too long on some value: write it without repeats inside repeats"})
	}
	return out
}
