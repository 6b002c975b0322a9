package live

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// listResources reads all resources without their contents. Resources that changed are
// already known with their contents, from the differences.
func (l *loader) listResources(ctx context.Context) error {
	var roots [2]resourceRoot
	for side := range 2 {
		r := l.findResourceRoot(side)
		if r == nil {
			return nil
		}
		roots[side] = *r
	}
	clean, err := l.readResources(ctx, roots)
	if err != nil || clean {
		return err
	}
	// A back reference that breaks a rule of its type is an error that hides all
	// resources. So the second query is without back references.
	roots[base].backrefFields, roots[head].backrefFields = "", ""
	_, err = l.readResources(ctx, roots)
	return err
}

// A resourceRoot is the root field that lists resources, with the fields to query of each
// resource and of its back references, separated by blanks.
type resourceRoot struct {
	field, ownFields, backrefFields string
}

// findResourceRoot returns the root field of resources on one side, nil if there is none.
func (l *loader) findResourceRoot(side int) *resourceRoot {
	t := l.types[side].byName[resourceType]
	if t == nil || !t.hasPath() {
		return nil
	}
	r := &resourceRoot{}
	for _, f := range l.types[side].rootFields() {
		if f.typeName == resourceType && f.list && !f.listsDatafiles() {
			r.field = f.name
		}
	}
	for _, name := range []string{"path", "schema", "sha256sum"} {
		if _, ok := t.field(name); ok {
			r.ownFields += " " + name
		}
	}
	if f, ok := t.field("backrefs"); ok && l.types[side].byName[f.typeName] != nil {
		for _, name := range []string{"path", "datafileSchema", "jsonpath"} {
			if _, ok := l.types[side].byName[f.typeName].field(name); ok {
				r.backrefFields += " " + name
			}
		}
	}
	if r.field == "" {
		return nil
	}
	return r
}

// readResources reads the resources of both sides. If an answer has errors, it records
// nothing and returns false.
func (l *loader) readResources(ctx context.Context, roots [2]resourceRoot) (clean bool, err error) {
	var answers [2]*gql.Response
	err = forBothSides(func(side int) error {
		r := roots[side]
		query := "{r:" + r.field + "{" + r.ownFields
		if r.backrefFields != "" {
			query += " backrefs{" + r.backrefFields + "}"
		}
		var err error
		answers[side], err = l.sides[side].ask(ctx, gql.Request{Query: query + "}}"})
		return err
	})
	if err != nil {
		return false, fmt.Errorf("listing resources: %w", err)
	}
	if len(answers[base].Errors)+len(answers[head].Errors) > 0 {
		return false, nil
	}
	for side, answer := range answers {
		for _, o := range objects(answer.Data, "r") {
			p := bundle.Path(o.String("path"))
			if p == "" || l.changed[p] && l.resources[p] != nil {
				continue
			}
			if l.resources[p] == nil {
				l.resources[p] = &filePair{}
			}
			l.resources[p].raw[side] = resourceOutline(o)
		}
	}
	return true, nil
}

// resourceOutline returns a resource without its content. The content is not needed, since
// it is the same on both sides.
func resourceOutline(o *bundle.Object) []byte {
	out := &bundle.Object{}
	for _, m := range o.Members() {
		if m.Key == "schema" {
			m.Key = "$schema"
		}
		out.Set(m.Key, m.Value)
	}
	out.Set("content", "")
	if !out.Has("sha256sum") {
		out.Set("sha256sum", "")
	}
	return gql.AppendJSON(nil, out)
}

// fetchReferringFiles reads the datafiles that refer to resources.
func (l *loader) fetchReferringFiles(ctx context.Context) error {
	from := map[bundle.Path]bool{}
	for _, r := range l.resources {
		for _, raw := range r.raw {
			v, err := bundle.ParseValue(raw)
			if err != nil {
				continue // this side does not have the resource
			}
			for _, back := range objects(v, "backrefs") {
				from[bundle.Path(back.String("path"))] = true
			}
		}
	}
	_, err := l.fetchDatafiles(ctx, slices.Sorted(maps.Keys(from)))
	return err
}
