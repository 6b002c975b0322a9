package affected

import (
	"context"
	"slices"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// An Answerer answers requests over one bundle as qontract-server does: a
// [gql.Engine], or a server that has the bundle. A failure to get an answer is
// an answer with an error.
type Answerer interface {
	Answer(ctx context.Context, req gql.Request) *gql.Response
}

// hasVagueTypes tells whether the server of base says that it does not know which
// files the types of a query lead to.
func (c *Comparison) hasVagueTypes(q CompiledQuery) bool {
	if !c.isLive() {
		return false
	}
	v, ok := c.Base.(interface{ Vague(types []string) bool })
	return ok && (v.Vague(q.base.Types()) || v.Vague(q.head.Types()))
}

// answerers returns the servers, or these engines where there are none.
func (c *Comparison) answerers(engines func() (*engines, error)) (base, head Answerer, err error) {
	if c.isLive() {
		return c.Base, c.Head, nil
	}
	e, err := engines()
	if err != nil {
		return nil, nil, err
	}
	return e.base, e.head, nil
}

// answerWhole answers a query as a whole on both sides. The doubt says why the
// answers prove nothing; it is "" when they do.
func (c *Comparison) answerWhole(ctx context.Context, q CompiledQuery) (base, head any, doubt string) {
	b, h, err := c.responses(ctx, q)
	switch {
	case err != nil:
		return nil, nil, err.Error()
	case len(h.Errors) > 0:
		doubt = "head answers with an error: " + firstLine(h.Errors[0].Message)
	case len(b.Errors) > 0:
		doubt = "base answers with an error: " + firstLine(b.Errors[0].Message)
	}
	return b.Data, h.Data, doubt
}

// responses returns the answers of both sides to a query.
func (c *Comparison) responses(ctx context.Context, q CompiledQuery) (base, head *gql.Response, err error) {
	if c.isLive() {
		return c.Base.Answer(ctx, q.request), c.Head.Answer(ctx, q.request), nil
	}
	e, err := c.engines()
	if err != nil {
		return nil, nil, err
	}
	return e.base.Execute(ctx, q.base), e.head.Execute(ctx, q.head), nil
}

// compareLive compares the answers of two servers as a whole. Where errors may hide
// a part of an answer, it asks for the elements that the change can reach one by
// one. Which elements these are rests on types that the server only hints at. So
// when they show no difference, the answers must be the same as a whole, with
// their errors; otherwise the query is in doubt.
func (c *Comparison) compareLive(ctx context.Context, q CompiledQuery, r reach, d *difference) {
	b, h, err := c.responses(ctx, q)
	switch {
	case err != nil:
		d.doubt = err.Error()
	case len(b.Errors)+len(h.Errors) == 0 && d.compareResponses(q, b, h):
	case c.hasVagueTypes(q):
		d.doubt = "the server answers with errors, and does not tell what the change can reach"
	default:
		c.compareElements(ctx, q, r, d)
		if !d.compared && d.doubt == "" && !sameResponses(b, h) {
			d.doubt = "the server answers with errors, and not the same on both sides"
		}
	}
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

// rootItems returns the list of a root field.
func rootItems(data *bundle.Object, key string) ([]any, bool) {
	if data == nil {
		return nil, false
	}
	v, _ := data.Get(key)
	list, ok := v.([]any)
	return list, ok
}
