package proof

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/trace"
)

// A query is a declared or recorded query.
type query struct {
	name    string
	request gql.Request
}

// answers are the answers of both sides to a query, evaluated as a whole.
type answers struct {
	base, head  any         // plain documents
	lost, added any         // the same without what both sides have
	roots       []*gql.Root // of the query on base
	byElement   bool        // the documents are the elements of its root fields, one by one
	doubt       string      // why they prove nothing; "" when they do
	failed      bool        // both sides answer with errors
}

// ask answers a query on both sides.
func (c *prover) ask(ctx context.Context, q query, order settings.ListOrder) answers {
	key := fmt.Sprintf("%d%s", order, q.request.JSON())
	a, known := c.answered[key]
	if !known {
		if a, known = c.answered[fmt.Sprintf("%d%s", settings.OrderIgnored, q.request.JSON())]; !known || a.failed ||
			a.doubt != "" {
			a = c.evaluate(ctx, q, order)
		}
		a.lost, a.added = writer{order}.difference(a.base, a.head)
		c.answered[key] = a
	}
	c.asked.note(trace.Base, q.name, q.request, a.byElement)
	c.asked.note(trace.Head, q.name, q.request, a.byElement)
	return a
}

// evaluate answers a query on both sides as a whole. An error may hide that something
// differs. When both sides have the same errors, the elements of the answers are compared
// one by one; where that cannot be done, an error is a doubt.
func (c *prover) evaluate(ctx context.Context, q query, order settings.ListOrder) answers {
	onBase, err := c.base.compile(q.request)
	if err != nil {
		return answers{doubt: fmt.Sprintf("query %s: base rejects it: %v", q.name, err)}
	}
	onHead, err := c.head.compile(q.request)
	if err != nil {
		return answers{doubt: fmt.Sprintf("query %s: head rejects it: %v", q.name, err)}
	}
	was, is := c.base.answer(ctx, q.request), c.head.answer(ctx, q.request)
	a := answers{base: plain(was.Data), head: plain(is.Data), roots: onBase.Roots()}
	isOpaque := func(r *gql.Root) bool { return r.Kind == gql.RootOpaque }
	switch before, after := messages(was.Errors), messages(is.Errors); {
	case len(before)+len(after) == 0:
		return a
	case !slices.Equal(before, after):
		a.doubt = fmt.Sprintf("query %s: the sides answer with different errors", q.name)
	case len(c.changed.types) > 0 || c.changed.unsure || order == settings.OrderSignificant ||
		slices.ContainsFunc(a.roots, isOpaque):
		a.doubt = fmt.Sprintf("query %s: base and head answer with errors: %s", q.name, before[0])
	case c.base.server == nil:
		a.base, a.head, a.byElement = c.base.elements(ctx, onBase), c.head.elements(ctx, onHead), true
	}
	a.failed = true
	return a
}

// messages returns what errors say, without the place where they arose.
func messages(errs []gql.Error) []string {
	var out []string
	for _, e := range errs {
		out = append(out, e.Code+" "+e.Message)
	}
	slices.Sort(out)
	return out
}

// compile reads a query.
func (s *side) compile(req gql.Request) (*gql.Query, error) {
	if s.schema == nil {
		return nil, errors.New("the GraphQL types of the bundle cannot be used")
	}
	return s.schema.Compile(req)
}

// answer answers a request.
func (s *side) answer(ctx context.Context, req gql.Request) *gql.Response {
	if s.server != nil {
		return s.server.Answer(ctx, req)
	}
	return s.engine.Answer(ctx, req)
}

// elements evaluates a query element by element. An element with an error tells the error.
func (s *side) elements(ctx context.Context, q *gql.Query) any {
	out := object{}
	for _, root := range q.Roots() {
		if root.Kind == gql.RootConstant {
			continue
		}
		files := s.bundle.BySchema(root.Schema)
		if root.Resources() {
			files = s.bundle.Resources()
		}
		items := list{}
		for _, f := range files {
			if v, ok := s.element(ctx, q, root, f); ok {
				items = append(items, v)
			}
		}
		out[root.Key] = items
	}
	return out
}

func (s *side) element(ctx context.Context, q *gql.Query, root *gql.Root, f *bundle.File) (any, bool) {
	e := s.engine.Element(ctx, q, root, f)
	if len(e.Errors) == 0 {
		return plain(e.Value), e.Present
	}
	errs := list{}
	for _, m := range messages(e.Errors) {
		errs = append(errs, m)
	}
	return object{"path": string(f.Path), "errors": errs, "value": plain(e.Value)}, true
}
