package affected

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
	"github.com/app-sre/prcheck/plan"
)

// A comparison is what one query says about both bundles.
type comparison struct {
	touched    bool   // something that it reads changed, or may have
	compared   bool   // base and head hold its answers, as far as they can differ
	base, head any    // documents
	doubt      string // why they prove nothing; "" when they do
	evidence   plan.Query
}

// compare compares the answers of a query. Integrations that ask the same share
// the result.
func (w *World) compare(ctx context.Context, q Query, whole bool) *comparison {
	whole = whole || slices.ContainsFunc(q.base.Roots(), opaque) || slices.ContainsFunc(q.head.Roots(), opaque)
	key := comparedKey{q.base, whole}
	if c, ok := w.compared[key]; ok {
		return c
	}
	c := &comparison{evidence: plan.Query{SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(q.Text))), Complete: whole}}
	w.compared[key] = c
	if whole {
		c.touched, c.compared = true, true
		c.base, c.head, c.doubt = w.answers(ctx, q)
		return c
	}
	w.compareReached(ctx, q, c)
	return c
}

// A comparedKey is a query, and whether it was answered as a whole.
type comparedKey struct {
	query *gql.Query
	whole bool
}

// opaque tells whether a root can only be answered as a whole.
func opaque(r *gql.Root) bool { return r.Kind == gql.RootOpaque }

// answers answers a query as a whole on both sides.
func (w *World) answers(ctx context.Context, q Query) (base, head any, problem string) {
	e, err := w.engines()
	if err != nil {
		return nil, nil, err.Error()
	}
	b, h := e.base.Execute(ctx, q.base), e.head.Execute(ctx, q.head)
	switch {
	case w.thorough && sameErrors(b.Errors, h.Errors):
	case len(h.Errors) > 0:
		problem = "head answers with an error: " + firstLine(h.Errors[0].Message)
	case len(b.Errors) > 0:
		problem = "base answers with an error: " + firstLine(b.Errors[0].Message)
	}
	return b.Data, h.Data, problem
}

func sameErrors(a, b []gql.Error) bool {
	return slices.EqualFunc(a, b, func(a, b gql.Error) bool { return a.Message == b.Message && a.Code == b.Code })
}

// compareReached answers a query for the root elements that can see the change.
// All others are the same on both sides.
func (w *World) compareReached(ctx context.Context, q Query, c *comparison) {
	e, err := w.engines()
	if err != nil {
		c.touched, c.doubt = true, err.Error()
		return
	}
	r := w.reach(q.base)
	c.evidence.Reached, c.evidence.Fields = len(r.direct), r.fields
	base, head := &bundle.Object{}, &bundle.Object{}
	for i, root := range q.base.Roots() {
		found := w.candidates(root, r.roots[i])
		if len(found) == 0 || root.Kind == gql.RootConstant {
			continue
		}
		c.evidence.Roots += len(found)
		b, h := []any{}, []any{}
		for _, p := range found {
			old, was := c.element(ctx, e.base, w.base, root, q.base, p, "base")
			now, is := c.element(ctx, e.head, w.head, q.head.Roots()[i], q.head, p, "head")
			if was && is && bundle.Equal(old, now) {
				continue // adds the same to both sides
			}
			if was {
				b = append(b, old)
			}
			if is {
				h = append(h, now)
			}
		}
		base.Set(root.Key, b)
		head.Set(root.Key, h)
	}
	if c.evidence.Roots > 0 {
		c.compared, c.base, c.head = true, base, head
	}
	c.touched = c.compared || w.reads(q.base, r)
}

// element evaluates one root element on one side and tells whether it is there.
func (c *comparison) element(ctx context.Context, e *gql.Engine, b *bundle.Bundle, r *gql.Root, q *gql.Query, p bundle.Path, side string) (any, bool) {
	f, ok := b.Datafile(p)
	if r.Resources() {
		f, ok = b.Resource(p)
	}
	if !ok {
		return nil, false
	}
	el := e.Element(ctx, q, r, f)
	if len(el.Errors) > 0 && c.doubt == "" {
		c.doubt = fmt.Sprintf("%s of %s: %s answers with an error: %s", r.Key, p, side, firstLine(el.Errors[0].Message))
	}
	return el.Value, el.Present
}

// reads tells whether a changed field is one that the query reads, or a file
// that was added or removed is one that it can read.
func (w *World) reads(q *gql.Query, r reach) bool {
	if len(r.fields) > 0 {
		return true
	}
	schemas := q.Schemas()
	for _, c := range w.diff.Datafiles {
		if r.direct[c.Path] && slices.ContainsFunc(c.Schemas(), func(s bundle.Schema) bool { return slices.Contains(schemas, s) }) {
			return true
		}
	}
	for _, c := range w.diff.Resources {
		if r.direct[c.Path] {
			return true
		}
	}
	return false
}
