package validator

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// brokenParts returns findings for the parts of a schema file that are not valid, and for
// references without a target.
func (l *library) brokenParts(p bundle.Path) []Finding {
	_, found := checkValue(Finding{Section: Schemas, Path: p, Rule: SchemaBroken}, l.metaschema(), l.docs.get(p))
	s := schemaWalker{library: l, path: p}
	s.visitSchema(l.docs.get(p))
	return append(found, s.found...)
}

// removeBroken removes the broken parts from a schema, so that files can be checked against
// the rest.
func removeBroken(doc any, broken []Finding) {
	for _, f := range broken {
		parts := jsonpointer.Split(f.Pointer)
		if len(parts) == 0 {
			continue
		}
		parent, ok := lookupPlain(doc, parts[:len(parts)-1])
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

// lookupPlain returns the value to which the parts of a pointer lead.
func lookupPlain(v any, parts []string) (any, bool) {
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

// A schemaWalker visits all schemas in one schema file.
type schemaWalker struct {
	library *library
	path    bundle.Path
	at      []step
	found   []Finding
}

func (s *schemaWalker) addFinding(message string) {
	s.found = append(s.found, Finding{Section: Schemas, Path: s.path, Pointer: pointer(s.at), Rule: SchemaBroken,
		Message: message})
}

// enter calls visit one step below the current place.
func (s *schemaWalker) enter(to step, visit func()) {
	s.at = append(s.at, to)
	visit()
	s.at = s.at[:len(s.at)-1]
}

// visitSchema visits one schema.
func (s *schemaWalker) visitSchema(v any) {
	o, ok := v.(*bundle.Object)
	if !ok {
		return // the metaschema has told
	}
	for _, m := range o.Members() {
		s.enter(step{key: m.Key}, func() { s.visitKeyword(m) })
	}
}

// visitKeyword visits the value of one keyword.
func (s *schemaWalker) visitKeyword(m bundle.Member) {
	switch m.Key {
	case "$ref":
		s.checkRef(m.Value)
	case "$schemaRef":
		s.checkSchemaRef(m.Value)
	case "pattern":
		s.checkPattern(m.Value)
	case "properties", "patternProperties", "definitions", "dependencies":
		o, ok := m.Value.(*bundle.Object)
		if !ok {
			return
		}
		for _, sub := range o.Members() {
			s.enter(step{key: sub.Key}, func() {
				if m.Key == "patternProperties" {
					s.checkPattern(sub.Key)
				}
				s.visitSchema(sub.Value)
			})
		}
	case "additionalProperties", "additionalItems", "items", "contains", "not", "propertyNames", "allOf", "anyOf", "oneOf":
		list, ok := m.Value.([]any)
		if !ok {
			s.visitSchema(m.Value)
		}
		for i, sub := range list {
			s.enter(step{index: i, item: true}, func() { s.visitSchema(sub) })
		}
	}
}

func (s *schemaWalker) checkPattern(v any) {
	text, ok := v.(string)
	if !ok {
		return
	}
	if _, err := newPattern(text); err != nil {
		s.addFinding("the pattern " + shortJSON(text) + " does not compile: " + firstLine(err.Error()))
	}
}

// checkSchemaRef checks the value of $schemaRef: the schema that the target of a reference
// must have.
func (s *schemaWalker) checkSchemaRef(v any) {
	switch v := v.(type) {
	case string:
		if !s.library.docs.has(bundle.Path(v)) {
			s.addFinding(shortJSON(v) + " is not the path of a schema")
		}
	case *bundle.Object:
		s.visitSchema(v)
	default:
		s.addFinding(shortJSON(v) + " is neither the path of a schema nor a schema")
	}
}

// checkRef checks that the target of a $ref exists.
func (s *schemaWalker) checkRef(v any) {
	text, ok := v.(string)
	if !ok {
		return // the metaschema has told
	}
	base := url.URL{Scheme: scheme, Path: string(s.path)}
	u, err := base.Parse(text)
	if err != nil {
		s.addFinding(shortJSON(text) + " is not an address")
		return
	}
	if u.Scheme != scheme {
		if !strings.HasPrefix(text, draft6) {
			s.addFinding(shortJSON(text) + " is not in the bundle")
		}
		return
	}
	doc := s.library.docs.get(bundle.Path(u.Path))
	if doc == nil {
		s.addFinding(shortJSON(u.Path) + " is not the path of a schema")
		return
	}
	if strings.HasPrefix(u.Fragment, "/") {
		if _, ok := lookup(doc, u.Fragment); !ok {
			s.addFinding(shortJSON(u.Path) + " has nothing at " + shortJSON(u.Fragment))
		}
	}
}
