package validator

import (
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/bundle"
)

// maxNested bounds how far the properties of a schema are looked for in the
// schemas that it combines.
const maxNested = 8

// schemasOf returns the JSON schemas whose datafiles have a type, sorted.
func (t *gqlTypes) schemasOf(typ *gqlType) []bundle.Schema {
	if t.schemas == nil {
		t.schemas = map[*gqlType][]bundle.Schema{}
		for _, s := range slices.Sorted(maps.Keys(t.bySchema)) {
			t.schemas[t.bySchema[s]] = append(t.schemas[t.bySchema[s]], s)
		}
	}
	return t.schemas[typ]
}

// properties returns the properties that a schema, or one that it combines,
// names, each with the types that it may have; no types when that is not known.
func (c *checker) properties(s bundle.Schema, depth int) map[string][]string {
	doc := c.library.docs[schemaPath(string(s))]
	if doc == nil {
		return nil
	}
	out := map[string][]string{}
	c.collect(doc, out, depth)
	return out
}

func (c *checker) collect(doc *bundle.Object, out map[string][]string, depth int) {
	if depth > maxNested {
		return
	}
	v, _ := doc.Get("properties")
	if props, ok := v.(*bundle.Object); ok {
		for _, m := range props.Members() {
			types := c.typesOf(m.Value)
			if old, ok := out[m.Key]; ok && !slices.Equal(old, types) {
				types = nil // it may be several things
			}
			out[m.Key] = types
		}
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		v, _ := doc.Get(key)
		list, _ := v.([]any)
		for _, sub := range list {
			if o := c.follow(sub); o != nil {
				c.collect(o, out, depth+1)
			}
		}
	}
}

// follow returns a schema, or the one that it refers to.
func (c *checker) follow(v any) *bundle.Object {
	o, ok := v.(*bundle.Object)
	for range maxNested {
		ref := ""
		if ok {
			ref = o.String("$ref")
		}
		if ref == "" {
			break
		}
		file, at, _ := strings.Cut(ref, "#")
		doc := c.library.docs[bundle.Path(file)]
		if doc == nil {
			return nil
		}
		v, _ := lookup(doc, at)
		o, ok = v.(*bundle.Object)
	}
	return o
}

// typesOf returns the types that a schema allows, as far as it says so itself.
func (c *checker) typesOf(v any) []string {
	o := c.follow(v)
	if o == nil {
		return nil
	}
	t, _ := o.Get("type")
	switch t := t.(type) {
	case string:
		return []string{t}
	case []any:
		var out []string
		for _, name := range t {
			if name, ok := name.(string); ok {
				out = append(out, name)
			}
		}
		slices.Sort(out)
		return out
	}
	return nil
}

// A gap is a property that no query can read, or a field that nothing fills.
type gap struct {
	rule   Rule
	schema bundle.Schema
	name   string
}

// gaps returns the gaps between types and schemas with the places at which they
// are told.
func (c *checker) gaps() map[gap]Finding {
	out := map[gap]Finding{}
	for _, s := range slices.Sorted(maps.Keys(c.types.bySchema)) {
		t := c.types.bySchema[s]
		props := c.properties(s, 0)
		if props == nil {
			continue
		}
		fields := maps.Clone(t.by)
		for _, other := range c.types.all {
			if other.implements == t.name {
				maps.Copy(fields, other.by)
			}
		}
		for name := range props {
			if fields[name] == nil && !strings.HasPrefix(name, "$") && name != "__identifier" {
				out[gap{GraphQLNoField, s, name}] = Finding{Section: Schemas, Path: schemaPath(string(s)), Pointer: propertyAt(c, s, name), Rule: GraphQLNoField,
					Message: "the GraphQL type " + t.name + " has no field " + show(name) + ": no query can read it"}
			}
		}
		for name, f := range fields {
			if _, ok := props[name]; !ok && f.synthetic == nil && name != "path" && name != "schema" {
				out[gap{GraphQLNoProperty, s, name}] = Finding{Section: GraphQL, Pointer: f.at, Rule: GraphQLNoProperty,
					Message: string(s) + " has no property " + show(name) + ": the field is always empty"}
			}
		}
	}
	return out
}

// propertyAt is the place of a property, or of the schema when one that it
// combines has the property.
func propertyAt(c *checker, s bundle.Schema, name string) string {
	at := "/properties" + pointer([]step{{key: name}})
	if _, ok := lookup(c.library.docs[schemaPath(string(s))], at); ok {
		return at
	}
	return ""
}

// newGaps returns the gaps that base does not have. Real repositories have
// some, so without a base nothing can be said.
func (c *checker) newGaps() []Finding {
	if c.base == nil {
		return nil
	}
	before := (&checker{head: c.base, types: readTypes(c.base.GraphQL()), library: &library{docs: schemaDocs(c.base)}}).gaps()
	var out []Finding
	for g, found := range c.gaps() {
		if _, ok := before[g]; !ok {
			out = append(out, found)
		}
	}
	return out
}
