package live

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// listDatafiles reads the datafiles that root fields list, on both sides.
func (l *loader) listDatafiles(ctx context.Context) error {
	var listed [2]map[string][]bundle.Path
	err := forBothSides(func(side int) error {
		var err error
		listed[side], err = l.listPaths(ctx, side)
		return err
	})
	if err != nil {
		return err
	}
	all := map[bundle.Path]bool{}
	for _, side := range listed {
		for _, paths := range side {
			for _, p := range paths {
				all[p] = true
			}
		}
	}
	if _, err := l.fetchDatafiles(ctx, slices.Sorted(maps.Keys(all))); err != nil {
		return err
	}
	for side, roots := range listed {
		for root, paths := range roots {
			if err := l.recordSchema(side, root, paths); err != nil {
				return err
			}
		}
	}
	return nil
}

// recordSchema records the schema of the datafiles that a root field lists.
func (l *loader) recordSchema(side int, root string, paths []bundle.Path) error {
	for _, p := range paths {
		o := l.datafileObject(side, p)
		if o == nil {
			return fmt.Errorf("%s lists datafile %q in %s and does not give it: is it reloading? try again", l.client.server, p,
				root)
		}
		bound := l.roots[root]
		bound[side] = bundle.SchemaPath(o.String("$schema"))
		l.roots[root] = bound
	}
	return nil
}

// listPaths returns the paths of the datafiles of one side by root field.
func (l *loader) listPaths(ctx context.Context, side int) (map[string][]bundle.Path, error) {
	var roots []string
	for _, f := range l.types[side].rootFields() {
		t := l.types[side].byName[f.typeName]
		switch {
		case !f.listsDatafiles() || t == nil:
		case f.list && t.hasPath():
			roots = append(roots, f.name)
		default:
			if err := l.requireEmpty(ctx, side, f); err != nil {
				return nil, err
			}
		}
	}
	if len(roots) == 0 {
		return nil, nil
	}
	data, err := l.queryData(ctx, side, "{"+strings.Join(roots, "{path}")+"{path}}")
	if err != nil {
		return nil, fmt.Errorf("listing datafiles: %w", err)
	}
	out := map[string][]bundle.Path{}
	for _, root := range roots {
		for _, o := range objects(data, root) {
			out[root] = append(out[root], bundle.Path(o.String("path")))
		}
	}
	return out, nil
}

// requireEmpty returns an error if a root field lists datafiles. It is for types without a
// path, whose datafiles cannot be found.
func (l *loader) requireEmpty(ctx context.Context, side int, f field) error {
	data, err := l.queryData(ctx, side, "{"+f.name+"{__typename}}")
	if err != nil {
		return fmt.Errorf("listing datafiles: %w", err)
	}
	if v, _ := data.Get(f.name); len(objects(data, f.name)) == 0 && !isObject(v) {
		return nil
	}
	return fmt.Errorf("the datafiles that %s lists in %s cannot be found, since its GraphQL type %s has no path: use "+
		"the bundle files instead", l.client.server, f.name, f.typeName)
}

func isObject(v any) bool {
	_, ok := v.(*bundle.Object)
	return ok
}

// datafileObject returns a datafile of one side, nil if that side does not have it.
func (l *loader) datafileObject(side int, p bundle.Path) *bundle.Object {
	got := l.datafiles[p]
	if got == nil || got.raw[side] == nil {
		return nil
	}
	if got.object[side] == nil && string(got.raw[0]) == string(got.raw[1]) {
		got.object[side] = got.object[1-side]
	}
	if got.object[side] == nil {
		v, err := bundle.ParseValue(got.raw[side])
		if o, ok := v.(*bundle.Object); ok && err == nil {
			got.object[side] = o
		}
	}
	return got.object[side]
}

// followReferences reads the datafiles to which other datafiles refer, and so on. It finds
// datafiles that no root field lists.
func (l *loader) followReferences(ctx context.Context) error {
	next := slices.Collect(maps.Keys(l.datafiles))
	for len(next) > 0 {
		targets := map[bundle.Path]bool{}
		for _, p := range next {
			for side := range 2 {
				walkReferences(l.datafileObject(side, p), "", func(_ string, to bundle.Path) { targets[to] = true })
			}
		}
		var err error
		if next, err = l.fetchDatafiles(ctx, slices.Sorted(maps.Keys(targets))); err != nil {
			return err
		}
	}
	return nil
}

// walkReferences calls found for every reference in a value, with the keys on the way to the
// reference, joined by dots.
func walkReferences(v any, at string, found func(at string, to bundle.Path)) {
	switch v := v.(type) {
	case *bundle.Object:
		if v == nil {
			return
		}
		if to, ok := bundle.Ref(v); ok {
			found(at, to)
			return
		}
		for _, m := range v.Members() {
			below := m.Key
			if at != "" {
				below = at + "." + m.Key
			}
			walkReferences(m.Value, below, found)
		}
	case []any:
		for _, item := range v {
			walkReferences(item, at, found)
		}
	}
}
