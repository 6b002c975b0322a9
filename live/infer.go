package live

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
)

// A synthetic is where the values of a field of back references come from.
type synthetic struct {
	schema bundle.Schema
	attr   string
}

// A link is a datafile that a field of another one shows.
type link struct{ from, to bundle.Path }

// infer finds the fields of back references. Introspection does not tell them
// from others, but they show files although no datafile has such a key; which
// key of those files leads back is then seen in the files.
func (l *loader) infer(ctx context.Context) error {
	links := map[fieldName]map[link]bool{} // with an entry for every field that is a list although no file has it
	for side := range 2 {
		for _, root := range l.types[side].query() {
			t := l.types[side].at[root.typ]
			if !root.lists() || !root.list || t == nil || !t.hasPath() {
				continue
			}
			for _, name := range append([]string{t.name}, t.possible...) {
				of := l.types[side].at[name]
				if of == nil || of.kind != "OBJECT" {
					continue
				}
				if err := l.follow(ctx, side, root, of, links); err != nil {
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
	if _, err := l.fetch(ctx, slices.Sorted(maps.Keys(shown))); err != nil {
		return err
	}
	for side := range 2 {
		l.settle(side)
	}
	for name, found := range links {
		l.synthetic[name] = l.backward(name, found)
	}
	return nil
}

// settle notes the types of which it is not known what is a back reference: no
// root lists them, or the server answered with errors.
func (l *loader) settle(side int) {
	keys := map[string]bool{}
	for p := range l.datafiles {
		keysOf(l.object(side, p), keys)
	}
	for _, t := range l.types[side].list {
		if l.seen[t.name] || t.kind != "OBJECT" || !t.hasPath() {
			continue
		}
		part := l.types[side].at[everything] != nil && !slices.Contains(t.interfaces, everything)
		for _, f := range l.lists(side, t) {
			if !part || !keys[f.name] { // parts of a file have what the file says
				l.vague[t.name] = true
			}
		}
	}
	for name := range l.open[side] {
		l.vague[name.typ] = true
	}
}

// keysOf gathers all keys in a value.
func keysOf(v any, keys map[string]bool) {
	switch v := v.(type) {
	case *bundle.Object:
		if v == nil {
			return
		}
		for _, m := range v.Members() {
			keys[m.Key] = true
			keysOf(m.Value, keys)
		}
	case []any:
		for _, item := range v {
			keysOf(item, keys)
		}
	}
}

// follow asks what the suspicious fields of a type show that a root lists, alone
// or among others.
func (l *loader) follow(ctx context.Context, side int, root field, t *typ, links map[fieldName]map[link]bool) error {
	suspects := l.suspects(side, root, t)
	l.seen[t.name] = true
	if len(suspects) == 0 {
		return nil
	}
	groups := [][]field{suspects}
	for _, f := range suspects {
		l.open[side][fieldName{t.name, f.name}] = true
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
		if len(res.Errors) > 0 && len(group) > 1 { // an error of one field can hide the others
			for _, f := range group {
				groups = append(groups, []field{f})
			}
			continue
		}
		for _, f := range group {
			if len(res.Errors) == 0 {
				delete(l.open[side], fieldName{t.name, f.name})
			}
		}
		for _, o := range objects(res.Data, "r") {
			for i, f := range group {
				note(links, fieldName{t.name, f.name}, o, "f"+strconv.Itoa(i))
			}
		}
	}
	return nil
}

// note notes the files that a field of one object shows.
func note(links map[fieldName]map[link]bool, name fieldName, from *bundle.Object, key string) {
	v, _ := from.Get(key)
	if _, isList := v.([]any); !isList { // a key that is missing gives null
		return
	}
	if links[name] == nil {
		links[name] = map[link]bool{}
	}
	for _, to := range objects(from, key) {
		links[name][link{bundle.Path(from.String("path")), bundle.Path(to.String("path"))}] = true
	}
}

// suspects returns the fields of a type that are lists of objects with paths
// and that no datafile of the root has as a key.
func (l *loader) suspects(side int, root field, t *typ) []field {
	out := l.lists(side, t)
	if len(out) == 0 {
		return nil
	}
	for p := range l.datafiles {
		o := l.object(side, p)
		if o == nil || bundle.Schema(o.String("$schema")) != l.roots[root.name][side] {
			continue
		}
		out = slices.DeleteFunc(out, func(f field) bool { return o.Has(f.name) })
	}
	return out
}

// backward returns the schema and the dotted keys by which all shown files refer
// to the files that show them. Where none is shown, nobody knows.
func (l *loader) backward(name fieldName, found map[link]bool) synthetic {
	var common map[string]bool
	schemas := map[bundle.Schema]bool{}
	for k := range found {
		attrs := map[string]bool{}
		for side := range 2 {
			o := l.object(side, k.to)
			if o == nil {
				continue
			}
			schemas[bundle.Schema(o.String("$schema"))] = true
			references(o, "", func(at string, to bundle.Path) {
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
		return synthetic{schema: bundle.Schema("unknown schema of " + name.field), attr: "unknown key of " + name.field}
	}
	s := synthetic{schema: slices.Collect(maps.Keys(schemas))[0]}
	attrs := slices.Sorted(maps.Keys(common))
	s.attr = attrs[0]
	for _, at := range attrs {
		if len(attrs) > 1 && !l.shows(s.schema, at, found) {
			continue
		}
		s.attr = at
		break
	}
	return s
}

// shows tells whether every reference with an attribute is one that is shown.
func (l *loader) shows(schema bundle.Schema, attr string, found map[link]bool) bool {
	parents := map[bundle.Path]bool{}
	for k := range found {
		parents[k.from] = true
	}
	all := true
	for p := range l.datafiles {
		for side := range 2 {
			o := l.object(side, p)
			if o == nil || bundle.Schema(o.String("$schema")) != schema {
				continue
			}
			references(o, "", func(at string, to bundle.Path) {
				all = all && (at != attr || !parents[to] || found[link{to, p}])
			})
		}
	}
	return all
}

// lists returns the fields of a type that are lists of objects with paths.
func (l *loader) lists(side int, t *typ) []field {
	var out []field
	for _, f := range t.fields {
		to := l.types[side].at[f.typ]
		if f.list && len(f.args) == 0 && to != nil && to.hasPath() && f.typ != resourceType {
			out = append(out, f)
		}
	}
	return out
}
