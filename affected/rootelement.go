package affected

import (
	"context"
	"fmt"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// An evaluator evaluates root elements of a query on one side.
type evaluator struct {
	side     string // for messages
	bundle   *bundle.Bundle
	roots    []*gql.Root
	evaluate func(*gql.Root, *bundle.File) gql.Element
}

// compareElements evaluates and compares the root elements that the change can
// reach, one by one.
func (c *Comparison) compareElements(ctx context.Context, q CompiledQuery, r reach, d *difference) {
	base, head, err := c.evaluators(ctx, q)
	if err != nil {
		d.doubt = err.Error()
		return
	}
	for i, root := range q.base.Roots() {
		if root.Kind == gql.RootConstant {
			continue
		}
		var before, after []any
		for _, p := range c.candidates(root, r.roots[i]) {
			old, was := d.element(base, i, p)
			now, is := d.element(head, i, p)
			if was && is && bundle.Equal(old, now) {
				continue // adds the same to both sides
			}
			if was {
				before = append(before, old)
			}
			if is {
				after = append(after, now)
			}
		}
		d.add(root.Key, before, after)
	}
}

// evaluators returns the evaluators of a query for base and head: the embedded
// engine, or the servers that answer in its place.
func (c *Comparison) evaluators(ctx context.Context, q CompiledQuery) (base, head evaluator, err error) {
	base = evaluator{side: "base", bundle: c.base, roots: q.base.Roots()}
	head = evaluator{side: "head", bundle: c.head, roots: q.head.Roots()}
	if c.isLive() {
		base.evaluate, head.evaluate = remoteElement(ctx, c.Base, q.request), remoteElement(ctx, c.Head, q.request)
		return base, head, nil
	}
	e, err := c.engines()
	if err != nil {
		return base, head, err
	}
	base.evaluate = func(r *gql.Root, f *bundle.File) gql.Element { return e.base.Element(ctx, q.base, r, f) }
	head.evaluate = func(r *gql.Root, f *bundle.File) gql.Element { return e.head.Element(ctx, q.head, r, f) }
	return base, head, nil
}

// remoteElement returns a function that asks a server for a single root element.
func remoteElement(ctx context.Context, a Answerer, req gql.Request) func(*gql.Root, *bundle.File) gql.Element {
	fail := func(why string) gql.Element { return gql.Element{Errors: []gql.Error{{Message: why}}} }
	return func(root *gql.Root, f *bundle.File) gql.Element {
		if !root.Resources() && f.Schema != root.Schema {
			return gql.Element{}
		}
		single, ok := gql.RestrictToFile(req, root, f)
		switch {
		case !ok:
			return fail("its query cannot be asked for this element alone")
		case single == nil:
			return gql.Element{}
		}
		res := a.Answer(ctx, *single)
		data, _ := res.Data.(*bundle.Object)
		list, ok := rootItems(data, root.Key)
		switch {
		case !ok && len(res.Errors) > 0: // an error that made the whole list null
			return gql.Element{Present: true, Errors: res.Errors}
		case !ok || len(list) > 1:
			return fail("the server does not answer with one element")
		case len(list) == 0:
			return gql.Element{Errors: res.Errors}
		}
		return gql.Element{Present: true, Value: list[0], Errors: res.Errors}
	}
}

// element evaluates one root element on one side and tells whether it is there. An
// error becomes the doubt of the difference.
func (d *difference) element(e evaluator, root int, p bundle.Path) (any, bool) {
	r := e.roots[root]
	f, ok := e.bundle.Datafile(p)
	if r.Resources() {
		f, ok = e.bundle.Resource(p)
	}
	if !ok {
		return nil, false
	}
	el := e.evaluate(r, f)
	if len(el.Errors) > 0 && d.doubt == "" {
		d.doubt = fmt.Sprintf("%s of %s: %s answers with an error: %s", r.Key, p, e.side, firstLine(el.Errors[0].Message))
	}
	return el.Value, el.Present
}
