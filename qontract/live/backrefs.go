package live

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// A synthetic says where the values of a field of back references come from: from the
// datafiles of a schema that refer to the object by an attribute.
type synthetic struct {
	schema bundle.SchemaPath
	attr   string
}

// A link means that a field of the datafile from has the datafile to as a value.
type link struct{ from, to bundle.Path }

// inferBackReferences finds the fields of back references. Introspection does not
// distinguish them from other fields. But a field of back references has datafiles as
// values although no datafile has a key with its name. Those datafiles then contain the
// attribute that refers back.
func (l *loader) inferBackReferences(ctx context.Context) error {
	links := map[fieldName]map[link]bool{} // an entry for each field that has a list as value although no file has its key
	for side := range 2 {
		for _, root := range l.types[side].rootFields() {
			t := l.types[side].byName[root.typeName]
			if !root.listsDatafiles() || !root.list || t == nil || !t.hasPath() {
				continue
			}
			for _, name := range append([]string{t.name}, t.possibleTypes...) {
				of := l.types[side].byName[name]
				if of == nil || of.kind != "OBJECT" {
					continue
				}
				if err := l.queryBackReferences(ctx, side, root, of, links); err != nil {
					return err
				}
			}
		}
	}
	shown := map[bundle.Path]bool{}
	for _, found := range links {
		for k := range found {
			shown[k.to] = true
		}
	}
	if _, err := l.fetchDatafiles(ctx, slices.Sorted(maps.Keys(shown))); err != nil {
		return err
	}
	for side := range 2 {
		l.recordVagueTypes(side)
	}
	for name, found := range links {
		l.synthetic[name] = l.deriveSynthetic(name, found)
	}
	return nil
}

// recordVagueTypes records the types whose back references are not known, because no root
// field lists the type or because the server answered with errors.
func (l *loader) recordVagueTypes(side int) {
	keys := map[string]bool{}
	for p := range l.datafiles {
		collectKeys(l.datafileObject(side, p), keys)
	}
	for _, t := range l.types[side].list {
		if l.inferred[t.name] || t.kind != "OBJECT" || !t.hasPath() {
			continue
		}
		part := l.types[side].byName[datafileInterface] != nil && !slices.Contains(t.interfaces, datafileInterface)
		for _, f := range l.listFields(side, t) {
			if !part || !keys[f.name] { // an object inside of a datafile has the keys of the file
				l.vagueTypes[t.name] = true
			}
		}
	}
	for name := range l.undecided[side] {
		l.vagueTypes[name.typeName] = true
	}
}

// collectKeys adds all keys in a value to keys.
func collectKeys(v any, keys map[string]bool) {
	switch v := v.(type) {
	case *bundle.Object:
		if v == nil {
			return
		}
		for _, m := range v.Members() {
			keys[m.Key] = true
			collectKeys(m.Value, keys)
		}
	case []any:
		for _, item := range v {
			collectKeys(item, keys)
		}
	}
}

// queryBackReferences queries the fields of a type that may be back references, and records
// their values in links. The root field lists the type, perhaps among other types.
func (l *loader) queryBackReferences(ctx context.Context, side int, root field, t *graphqlType,
	links map[fieldName]map[link]bool) error {
	suspects := l.possibleBackReferences(side, root, t)
	l.inferred[t.name] = true
	if len(suspects) == 0 {
		return nil
	}
	groups := [][]field{suspects}
	for _, f := range suspects {
		l.undecided[side][fieldName{t.name, f.name}] = true
	}
	for len(groups) > 0 {
		group := groups[0]
		groups = groups[1:]
		var query strings.Builder
		fmt.Fprintf(&query, "{r:%s{path ...on %s{path", root.name, t.name)
		for i, f := range group {
			fmt.Fprintf(&query, " f%d:%s{path}", i, f.name)
		}
		query.WriteString("}}}")
		res, err := l.sides[side].ask(ctx, gql.Request{Query: query.String()})
		if err != nil {
			return fmt.Errorf("looking for back references: %w", err)
		}
		if len(res.Errors) > 0 && len(group) > 1 { // the error of one field may hide the values of others
			for _, f := range group {
				groups = append(groups, []field{f})
			}
			continue
		}
		for _, f := range group {
			if len(res.Errors) == 0 {
				delete(l.undecided[side], fieldName{t.name, f.name})
			}
		}
		for _, o := range objects(res.Data, "r") {
			for i, f := range group {
				recordLinks(links, fieldName{t.name, f.name}, o, "f"+strconv.Itoa(i))
			}
		}
	}
	return nil
}

// recordLinks records the datafiles that a field of an object has as values. The answer
// has the field under the given key.
func recordLinks(links map[fieldName]map[link]bool, name fieldName, from *bundle.Object, key string) {
	v, _ := from.Get(key)
	if _, isList := v.([]any); !isList { // an ordinary field whose key is missing is null
		return
	}
	if links[name] == nil {
		links[name] = map[link]bool{}
	}
	for _, to := range objects(from, key) {
		links[name][link{bundle.Path(from.String("path")), bundle.Path(to.String("path"))}] = true
	}
}

// possibleBackReferences returns the fields of a type that are lists of objects with paths
// and that no datafile of the root field has as a key.
func (l *loader) possibleBackReferences(side int, root field, t *graphqlType) []field {
	out := l.listFields(side, t)
	if len(out) == 0 {
		return nil
	}
	for p := range l.datafiles {
		o := l.datafileObject(side, p)
		if o == nil || bundle.SchemaPath(o.String("$schema")) != l.roots[root.name][side] {
			continue
		}
		out = slices.DeleteFunc(out, func(f field) bool { return o.Has(f.name) })
	}
	return out
}

// deriveSynthetic returns the schema and the attribute, a list of keys with dots, by which
// the linked datafiles refer back. If there are no links, it returns a schema that no
// datafile has.
func (l *loader) deriveSynthetic(name fieldName, found map[link]bool) synthetic {
	var common map[string]bool
	schemas := map[bundle.SchemaPath]bool{}
	for k := range found {
		attrs := map[string]bool{}
		for side := range 2 {
			o := l.datafileObject(side, k.to)
			if o == nil {
				continue
			}
			schemas[bundle.SchemaPath(o.String("$schema"))] = true
			walkReferences(o, "", func(at string, to bundle.Path) {
				if to == k.from {
					attrs[at] = true
				}
			})
		}
		if common == nil {
			common = attrs
		}
		maps.DeleteFunc(common, func(at string, _ bool) bool { return !attrs[at] })
	}
	if len(schemas) != 1 || len(common) == 0 {
		return synthetic{schema: bundle.SchemaPath("unknown schema of " + name.field), attr: "unknown key of " + name.field}
	}
	s := synthetic{schema: slices.Collect(maps.Keys(schemas))[0]}
	attrs := slices.Sorted(maps.Keys(common))
	s.attr = attrs[0]
	for _, at := range attrs {
		if len(attrs) > 1 && !l.showsAllReferences(s.schema, at, found) {
			continue
		}
		s.attr = at
		break
	}
	return s
}

// showsAllReferences reports whether every reference by an attribute, from a datafile of the
// schema to one of the linked objects, is among the links.
func (l *loader) showsAllReferences(schema bundle.SchemaPath, attr string, found map[link]bool) bool {
	parents := map[bundle.Path]bool{}
	for k := range found {
		parents[k.from] = true
	}
	all := true
	for p := range l.datafiles {
		for side := range 2 {
			o := l.datafileObject(side, p)
			if o == nil || bundle.SchemaPath(o.String("$schema")) != schema {
				continue
			}
			walkReferences(o, "", func(at string, to bundle.Path) {
				all = all && (at != attr || !parents[to] || found[link{to, p}])
			})
		}
	}
	return all
}

// listFields returns the fields of a type that are lists of objects with paths.
func (l *loader) listFields(side int, t *graphqlType) []field {
	var out []field
	for _, f := range t.fields {
		to := l.types[side].byName[f.typeName]
		if f.list && len(f.args) == 0 && to != nil && to.hasPath() && f.typeName != resourceType {
			out = append(out, f)
		}
	}
	return out
}
