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

func sameErrors(a, b []gql.Error) bool {
	return slices.EqualFunc(a, b, func(a, b gql.Error) bool { return a.Message == b.Message && a.Code == b.Code })
}

// compareReached compares the root elements that can see the change. All others
// are the same on both sides.
func (w *World) compareReached(ctx context.Context, q Query, c *comparison) {
	r := w.reach(q.base)
	c.evidence.Reached, c.evidence.Fields = len(r.direct), r.fields
	if w.live == nil {
		w.single(ctx, q, r, c)
	} else {
		w.asked(ctx, q, r, c)
	}
	c.touched = c.compared || w.reads(q.base, r)
}

// single evaluates what the change can reach, element by element.
func (w *World) single(ctx context.Context, q Query, r reach, c *comparison) {
	base, head, err := w.evaluators(ctx, q)
	if err != nil {
		c.doubt = err.Error()
		return
	}
	for i, root := range q.base.Roots() {
		if root.Kind == gql.RootConstant {
			continue
		}
		var before, after []any
		for _, p := range w.candidates(root, r.roots[i]) {
			old, was := c.rootElement(base, i, p)
			now, is := c.rootElement(head, i, p)
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
		c.differ(root.Key, before, after)
	}
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
