package proof

import (
	"reflect"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state/dependence"
)

// changes are the differences between two sides.
type changes struct {
	files    []file   // apart from those that differ in metadata alone
	backrefs []string // resources in which only the backrefs differ
	types    []string // JSON schemas, and "GraphQL types"
	unsure   bool     // a path does not begin with a slash, so it is not known who mentions it
}

// A file is a changed datafile or resource.
type file struct {
	path     string
	resource bool
	schemas  []string // that select by it
}

// repo returns the path of the file in the repository.
func (f file) repo() string {
	if f.resource {
		return "resources" + f.path
	}
	return "data" + f.path
}

// compare compares all files of two sides.
func compare(base, head *side) changes {
	c := changes{unsure: base.hasOddPath() || head.hasOddPath()}
	whole := jsonFields(base.types)
	for name := range jsonFields(head.types) {
		whole[name] = true
	}
	for _, path := range paths(base.data, head.data) {
		old, now := base.data[path], head.data[path]
		if old == nil || now == nil || !reflect.DeepEqual(withoutMetadata(old, whole), withoutMetadata(now, whole)) {
			c.files = append(c.files, file{path: path, schemas: schemasOf(old, now)})
		}
	}
	for _, path := range paths(base.resources, head.resources) {
		old, now := base.resources[path], head.resources[path]
		switch {
		case old == nil || now == nil || !reflect.DeepEqual(without(old, "backrefs"), without(now, "backrefs")):
			schemas := append(schemasOf(old, now), schemasThatMention(path, base, head)...)
			c.files = append(c.files, file{path, true, schemas})
		case !reflect.DeepEqual(old, now):
			c.backrefs = append(c.backrefs, path)
		}
	}
	for _, path := range paths(base.schemas, head.schemas) {
		if !reflect.DeepEqual(base.schemas[path], head.schemas[path]) {
			c.types = append(c.types, path)
		}
	}
	if before, after := typesByName(base.types), typesByName(head.types); !reflect.DeepEqual(before, after) {
		c.types = append(c.types, "GraphQL types")
	}
	return c
}

// paths returns the paths of two sections, sorted.
func paths(base, head map[string]object) []string {
	var out []string
	for p := range base {
		out = append(out, p)
	}
	for p := range head {
		out = append(out, p)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// hasOddPath tells whether a path does not begin with a slash.
func (s *side) hasOddPath() bool {
	for _, section := range []map[string]object{s.data, s.resources, s.schemas} {
		for p := range section {
			if !strings.HasPrefix(p, "/") {
				return true
			}
		}
	}
	return false
}

// schemasOf returns the schemas of both versions of a file.
func schemasOf(old, now object) []string {
	var out []string
	for _, f := range []object{old, now} {
		if s := text(f, "$schema"); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// schemasThatMention returns the schemas of all datafiles of which some value is a path.
func schemasThatMention(path string, sides ...*side) []string {
	var out []string
	for _, s := range sides {
		for _, f := range s.data {
			if mentions(without(f, "$schema"), path, "") {
				out = append(out, text(f, "$schema"))
			}
		}
	}
	return out
}

// mentions tells whether a value holds a path. A path without a slash counts in $ref only.
func mentions(v any, path, key string) bool {
	switch v := v.(type) {
	case string:
		return v == path && (strings.HasPrefix(path, "/") || key == "$ref")
	case list:
		return slices.ContainsFunc(v, func(item any) bool { return mentions(item, path, key) })
	case object:
		for k, m := range v {
			if mentions(m, path, k) {
				return true
			}
		}
	}
	return false
}

// without returns an object without a key.
func without(o object, key string) object {
	out := object{}
	for k, v := range o {
		if k != key {
			out[k] = v
		}
	}
	return out
}

// withoutMetadata returns a datafile without what the bundler adds: $file_sha256sum, and
// __identifier at any depth, but for the fields that are read as a whole, and beside $ref.
func withoutMetadata(f object, whole map[string]bool) any {
	return withoutIdentifiers(without(f, "$file_sha256sum"), whole)
}

func withoutIdentifiers(v any, whole map[string]bool) any {
	switch v := v.(type) {
	case object:
		out := object{}
		_, hasRef := v["$ref"]
		for k, m := range v {
			switch {
			case k == "__identifier" && !hasRef:
			case whole[k]:
				out[k] = m
			default:
				out[k] = withoutIdentifiers(m, whole)
			}
		}
		return out
	case list:
		out := make(list, len(v))
		for i := range v {
			out[i] = withoutIdentifiers(v[i], whole)
		}
		return out
	}
	return v
}

// configs returns the list of GraphQL types, in the new form or in the old one.
func configs(types any) list {
	if o, ok := types.(object); ok {
		types = o["confs"]
	}
	out, _ := types.(list)
	return out
}

// typesByName returns the GraphQL types by name, and in which form they are written. The
// order of types does not count.
func typesByName(types any) map[string]list {
	out := map[string]list{}
	for _, t := range configs(types) {
		o, _ := t.(object)
		out[text(o, "name")] = append(out[text(o, "name")], t)
	}
	if _, old := types.(list); old && len(out) > 0 {
		out["(the old form)"] = nil
	}
	return out
}

// jsonFields returns the names of the fields of the type json, which are read as a whole.
func jsonFields(types any) map[string]bool {
	out := map[string]bool{}
	for _, t := range configs(types) {
		o, _ := t.(object)
		fields, _ := o["fields"].(list)
		for _, f := range fields {
			if f, ok := f.(object); ok && text(f, "type") == "json" {
				out[text(f, "name")] = true
			}
		}
	}
	return out
}

// selected returns the changed files with a schema that the definition allows.
func (c changes) selected(d *definition) []string {
	var out []string
	for _, f := range c.files {
		if slices.ContainsFunc(f.schemas, func(s string) bool { return d.schemas[s] }) {
			out = append(out, f.path)
		}
	}
	return out
}

// reached returns the changed files on which answers depend, as runs have shown.
func (c changes) reached(b dependence.Beyond) []string {
	var out []string
	for _, f := range c.files {
		named := slices.Contains(b.Missing, f.path)
		if f.resource {
			named = b.Lists || slices.Contains(b.Resources, f.path)
		}
		if named || b.Anything || slices.ContainsFunc(f.schemas, func(s string) bool {
			return slices.Contains(b.Schemas, s)
		}) {
			out = append(out, f.path)
		}
	}
	if b.Backrefs || b.Anything {
		out = append(out, c.backrefs...)
	}
	return out
}

// readable returns the changed resources that an integration may ask for by their path.
func (c changes) readable(s *settings.Settings, may settings.Resources) []string {
	var out []string
	for _, f := range c.files {
		if f.resource && !isIgnored(s, f) && (c.unsure || may.Allow(f.path)) {
			out = append(out, f.path)
		}
	}
	return out
}

// isIgnored tells whether a file lies under paths.ignore.
func isIgnored(s *settings.Settings, f file) bool {
	return slices.ContainsFunc(s.Ignore, func(g settings.Glob) bool { return g.Match(f.repo()) })
}
