package validator

import (
	"slices"
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// maxNested limits how deep properties are looked for in the schemas that a schema
// combines.
const maxNested = 8

// properties returns the properties of a schema, including those of the schemas that it
// combines, with the types that each may have. The list of types is empty if they are not
// known.
func (c *checker) properties(s bundle.SchemaPath, depth int) map[string][]string {
	doc := c.library.docs.get(schemaPath(string(s)))
	if doc == nil {
		return nil
	}
	out := map[string][]string{}
	c.collectProperties(doc, out, depth)
	return out
}

// collectProperties adds the properties of a schema to out.
func (c *checker) collectProperties(doc *bundle.Object, out map[string][]string, depth int) {
	if depth > maxNested {
		return
	}
	v, _ := doc.Get("properties")
	if props, ok := v.(*bundle.Object); ok {
		for _, m := range props.Members() {
			types := c.allowedTypes(m.Value)
			if old, ok := out[m.Key]; ok && !slices.Equal(old, types) {
				types = nil // two schemas disagree
			}
			out[m.Key] = types
		}
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		v, _ := doc.Get(key)
		list, _ := v.([]any)
		for _, sub := range list {
			if o := c.followRef(sub); o != nil {
				c.collectProperties(o, out, depth+1)
			}
		}
	}
}

// followRef returns the schema v, or the schema that its $ref leads to.
func (c *checker) followRef(v any) *bundle.Object {
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
		doc := c.library.docs.get(bundle.Path(file))
		if doc == nil {
			return nil
		}
		v, _ := lookup(doc, at)
		o, ok = v.(*bundle.Object)
	}
	return o
}

// allowedTypes returns the types that the keyword "type" of a schema allows.
func (c *checker) allowedTypes(v any) []string {
	o := c.followRef(v)
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
