package validator

import (
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// A gap is a property that no query can read (GraphQLNoField), or a GraphQL field that no
// datafile can fill (GraphQLNoProperty).
type gap struct {
	rule   Rule
	schema bundle.SchemaPath
	name   string
}

// gaps returns the gaps between GraphQL types and JSON schemas, with a finding for each.
func (c *checker) gaps() map[gap]Finding {
	out := map[gap]Finding{}
	for _, s := range slices.Sorted(maps.Keys(c.types.bySchema)) {
		t := c.types.bySchema[s]
		props := c.properties(s, 0)
		if props == nil {
			continue
		}
		fields := maps.Clone(t.fieldsByName)
		for _, other := range c.types.all {
			if other.implements == t.name {
				maps.Copy(fields, other.fieldsByName)
			}
		}
		for name := range props {
			if fields[name] == nil && !strings.HasPrefix(name, "$") && name != "__identifier" {
				out[gap{GraphQLNoField, s, name}] = Finding{Section: Schemas, Path: schemaPath(string(s)),
					Pointer: propertyAt(c, s, name), Rule: GraphQLNoField,
					Message: "the GraphQL type " + t.name + " has no field " + shortJSON(name) + ": no query can read it"}
			}
		}
		for name, f := range fields {
			if _, ok := props[name]; !ok && f.synthetic == nil && name != "path" && name != "schema" {
				out[gap{GraphQLNoProperty, s, name}] = Finding{Section: GraphQL, Pointer: f.at, Rule: GraphQLNoProperty,
					Message: string(s) + " has no property " + shortJSON(name) + ": the field is always empty"}
			}
		}
	}
	return out
}

// propertyAt returns the pointer to a property in its schema, or "" if a schema that this
// schema combines has the property.
func propertyAt(c *checker, s bundle.SchemaPath, name string) string {
	at := "/properties" + pointer([]step{{key: name}})
	if _, ok := lookup(c.library.docs.get(schemaPath(string(s))), at); ok {
		return at
	}
	return ""
}

// newGaps returns findings for the gaps that base does not have. Real repositories have
// gaps, so without a base there are no findings.
func (c *checker) newGaps() []Finding {
	if c.base == nil {
		return nil
	}
	before := (&checker{head: c.base, types: readTypes(c.base.GraphQL()), library: &library{docs: docsOf(c.base)}}).gaps()
	var out []Finding
	for g, found := range c.gaps() {
		if _, ok := before[g]; !ok {
			out = append(out, found)
		}
	}
	return out
}
