package live

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
)

// listResources asks for all resources without their contents: those that
// changed came with the diff.
func (l *loader) listResources(ctx context.Context) error {
	var roots [2]resourceRoot
	for side := range 2 {
		r := l.resourceFields(side)
		if r == nil {
			return nil
		}
		roots[side] = *r
	}
	clean, err := l.resourcesOf(ctx, roots)
	if err != nil || clean {
		return err
	}
	// One that breaks a promise of its type hides all.
	roots[base].back, roots[head].back = "", ""
	_, err = l.resourcesOf(ctx, roots)
	return err
}

// A resourceRoot is the root field of resources and what to ask of them.
type resourceRoot struct {
	field, plain, back string
}

func (l *loader) resourceFields(side int) *resourceRoot {
	t := l.types[side].at[resourceType]
	if t == nil || !t.hasPath() {
		return nil
	}
	r := &resourceRoot{}
	for _, f := range l.types[side].query() {
		if f.typ == resourceType && f.list && !f.lists() {
			r.field = f.name
		}
	}
	for _, name := range []string{"path", "schema", "sha256sum"} {
		if _, ok := t.field(name); ok {
			r.plain += " " + name
		}
	}
	if f, ok := t.field("backrefs"); ok && l.types[side].at[f.typ] != nil {
		for _, name := range []string{"path", "datafileSchema", "jsonpath"} {
			if _, ok := l.types[side].at[f.typ].field(name); ok {
				r.back += " " + name
			}
		}
	}
	if r.field == "" {
		return nil
	}
	return r
}

// resourcesOf notes the resources of both sides, unless one of the answers
// holds errors.
func (l *loader) resourcesOf(ctx context.Context, roots [2]resourceRoot) (clean bool, err error) {
	var answers [2]*gql.Response
	err = both(func(side int) error {
		r := roots[side]
		query := "{r:" + r.field + "{" + r.plain
		if r.back != "" {
			query += " backrefs{" + r.back + "}"
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
				l.resources[p] = &pair{}
			}
			l.resources[p].raw[side] = outline(o)
		}
	}
	return true, nil
}

// outline writes a resource without its content, which is the same on both
// sides.
func outline(o *bundle.Object) []byte {
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

// backrefs asks for the datafiles that resources say refer to them.
func (l *loader) backrefs(ctx context.Context) error {
	from := map[bundle.Path]bool{}
	for _, r := range l.resources {
		for _, raw := range r.raw {
			v, err := bundle.ParseValue(raw)
			if err != nil {
				continue // there is none on this side
			}
			for _, back := range objects(v, "backrefs") {
				from[bundle.Path(back.String("path"))] = true
			}
		}
	}
	_, err := l.fetch(ctx, slices.Sorted(maps.Keys(from)))
	return err
}
