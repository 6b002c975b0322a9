package affected

import (
	"context"
	"slices"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
)

// An Answerer answers requests over one bundle as qontract-server does: a
// [gql.Engine], or a server that has the bundle. A failure to get an answer is
// an answer with an error.
type Answerer interface {
	Answer(ctx context.Context, req gql.Request) *gql.Response
}

// sides are what answers over the two bundles.
type sides struct {
	base, head Answerer
}

// vague tells whether a side says that it is not known what a change can reach
// through the types of a query.
func (s *sides) vague(q Query) bool {
	if s == nil {
		return false
	}
	v, ok := s.base.(interface{ Vague(types []string) bool })
	return ok && (v.Vague(q.base.Types()) || v.Vague(q.head.Types()))
}

// Ask lets a server answer over each bundle instead of the embedded engine.
// It must be called before the first judgement.
func (w *World) Ask(base, head Answerer) { w.live = &sides{base, head} }

// sides returns what answers over the two bundles.
func (w *World) sides() (*sides, error) {
	if w.live != nil {
		return w.live, nil
	}
	e, err := w.engines()
	if err != nil {
		return nil, err
	}
	return &sides{e.base, e.head}, nil
}

// whole is sides for answers as a whole.
func (w *World) whole() (*sides, error) {
	if w.live != nil {
		return w.live, nil
	}
	e, err := w.servers()
	if err != nil {
		return nil, err
	}
	return &sides{e.base, e.head}, nil
}

// answers answers a query as a whole on both sides.
func (w *World) answers(ctx context.Context, q Query) (base, head any, problem string) {
	b, h, err := w.responses(ctx, q)
	switch {
	case err != nil:
		return nil, nil, err.Error()
	case w.thorough && sameErrors(b.Errors, h.Errors):
	case len(h.Errors) > 0:
		problem = "head answers with an error: " + firstLine(h.Errors[0].Message)
	case len(b.Errors) > 0:
		problem = "base answers with an error: " + firstLine(b.Errors[0].Message)
	}
	return b.Data, h.Data, problem
}

func (w *World) responses(ctx context.Context, q Query) (base, head *gql.Response, err error) {
	if w.live != nil {
		return w.live.base.Answer(ctx, q.request), w.live.head.Answer(ctx, q.request), nil
	}
	e, err := w.engines()
	if err != nil {
		return nil, nil, err
	}
	return e.base.Execute(ctx, q.base), e.head.Execute(ctx, q.head), nil
}

// asked compares what a server answers as a whole: what the change can reach, and
// everything else, which is the same on both sides. Where errors may hide a part,
// the elements that the change can reach are asked for singly. Which they are
// rests on types that the server only hints at, so when that finds no difference
// the answers must be the same as a whole, errors and all, or it is in doubt.
func (w *World) asked(ctx context.Context, q Query, r reach, c *comparison) {
	b, h, err := w.responses(ctx, q)
	switch {
	case err != nil:
		c.doubt = err.Error()
	case len(b.Errors)+len(h.Errors) == 0 && w.differing(q, b, h, c):
	case w.live.vague(q):
		c.doubt = "the server answers with errors, and does not tell what the change can reach"
	default:
		w.single(ctx, q, r, c)
		if !c.compared && c.doubt == "" && !sameResponses(b, h) {
			c.doubt = "the server answers with errors, and not the same on both sides"
		}
	}
}

// differing notes in what two answers without errors differ. It returns false
// when one of them is not what was asked for.
func (w *World) differing(q Query, b, h *gql.Response, c *comparison) bool {
	base, _ := b.Data.(*bundle.Object)
	head, _ := h.Data.(*bundle.Object)
	for _, root := range q.base.Roots() {
		if root.Kind == gql.RootConstant {
			continue
		}
		old, was := items(base, root.Key)
		now, is := items(head, root.Key)
		if !was || !is {
			return false
		}
		c.differ(root.Key, old, now)
	}
	return true
}

// sameResponses tells whether two answers hold the same data and errors; the
// order of lists in the data does not count.
func sameResponses(a, b *gql.Response) bool {
	same := func(a, b gql.Error) bool {
		return a.Message == b.Message && a.Code == b.Code && slices.Equal(a.Path, b.Path)
	}
	data := digests([]any{a.Data, b.Data})
	return data[0] == data[1] && slices.EqualFunc(a.Errors, b.Errors, same)
}

// items returns the list of a root field.
func items(data *bundle.Object, key string) ([]any, bool) {
	if data == nil {
		return nil, false
	}
	v, _ := data.Get(key)
	list, ok := v.([]any)
	return list, ok
}
