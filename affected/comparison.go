package affected

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/settings"
)

// A Comparison compares the two bundles of a change. It keeps what it computes, so
// that integrations share it. It is not safe for use by several goroutines.
type Comparison struct {
	Options
	base, head  *bundle.Bundle
	diff        *bundle.Diff
	mentions    func() *bundle.Mentions
	engines     func() (*engines, error)
	schemas     func() (schemas, error)
	fullEngines func() (*engines, error)                 // engines that look at all files
	comparable  func() bool                              // see unchangedFilesAreEqual
	referrers   map[bundle.Path]map[string][]bundle.Path // see referrersOf
	compiled    map[requestKey]compiled
	differences map[differenceKey]*difference
	answers     map[requestKey]string    // digests of answers, see answerDigest
	visible     map[string]*VisibleState // nil: it cannot be told
}

// Options say how two bundles are compared. The zero value uses the embedded
// engine, and evaluates only what the change can reach.
type Options struct {
	// Base and Head answer in place of the embedded engine, when both are set.
	Base, Head Answerer
	// Memory keeps what tasks see of base; nil: it is evaluated each time.
	Memory Memory
}

// isLive tells whether servers answer in place of the embedded engine.
func (o Options) isLive() bool { return o.Base != nil && o.Head != nil }

// compiled is a query compiled for both sides, with the errors of the sides that
// reject it.
type compiled struct {
	base, head       *gql.Query
	baseErr, headErr error
}

// engines answer queries over the two bundles.
type engines struct {
	base, head             *gql.Engine
	baseSchema, headSchema *gql.Schema
}

// NewComparison returns the comparison of two bundles; diff is the result of
// [bundle.Compare] for them. Nothing is computed before it is needed.
func NewComparison(base, head *bundle.Bundle, diff *bundle.Diff, how Options) *Comparison {
	c := &Comparison{
		Options: how, base: base, head: head, diff: diff,
		referrers:   map[bundle.Path]map[string][]bundle.Path{},
		compiled:    map[requestKey]compiled{},
		differences: map[differenceKey]*difference{},
		answers:     map[requestKey]string{},
		visible:     map[string]*VisibleState{},
	}
	c.mentions = sync.OnceValue(func() *bundle.Mentions { return bundle.IndexMentions(base, head) })
	c.comparable = sync.OnceValue(c.unchangedFilesAreEqual)
	c.schemas = sync.OnceValues(func() (schemas, error) { return newSchemas(base, head) })
	c.fullEngines = sync.OnceValues(c.newEngines)
	c.engines = sync.OnceValues(func() (*engines, error) {
		e, err := c.newEngines()
		if err == nil && !c.isLive() && c.mentions().IsComplete() {
			e.base.UseMentions(c.mentions())
			e.head.UseMentions(c.mentions())
		}
		return e, err
	})
	return c
}

// Mentions returns the index of the paths that the datafiles of both bundles
// mention.
func (c *Comparison) Mentions() *bundle.Mentions { return c.mentions() }

// CheckTypes returns an error if the GraphQL types of a bundle cannot be used. Bundles of
// servers are not checked, since the servers answer.
func (c *Comparison) CheckTypes() error {
	if c.isLive() {
		return nil
	}
	_, err := c.schemas()
	return err
}

// schemas are the GraphQL schemas of the two bundles.
type schemas struct{ base, head *gql.Schema }

// newSchemas makes the schemas, only one if the bundles have the same types.
func newSchemas(base, head *bundle.Bundle) (s schemas, err error) {
	if s.base, err = gql.NewSchema(base.GraphQL()); err != nil {
		return schemas{}, fmt.Errorf("base: %w", err)
	}
	if base.HasSameGraphQL(head) {
		s.head = s.base
		return s, nil
	}
	if s.head, err = gql.NewSchema(head.GraphQL()); err != nil {
		return schemas{}, fmt.Errorf("head: %w", err)
	}
	return s, nil
}

// newEngines makes engines for the two bundles.
func (c *Comparison) newEngines() (*engines, error) {
	s, err := c.schemas()
	if err != nil {
		return nil, err
	}
	return &engines{gql.New(c.base, s.base), gql.New(c.head, s.head), s.base, s.head}, nil
}

// A CompiledQuery is a declared or recorded query, compiled for both sides.
type CompiledQuery struct {
	Name  string
	Text  string
	Doubt string // why it cannot be compared; "" when it can

	request    gql.Request
	base, head *gql.Query
}

// Compile reads a query. It is an error when base and head both reject it. When
// only one side rejects it, the query has a Doubt.
func (c *Comparison) Compile(name string, req gql.Request) (CompiledQuery, error) {
	q := CompiledQuery{Name: name, Text: req.Query, request: req}
	e, err := c.engines()
	if err != nil {
		q.Doubt = "the GraphQL types of a bundle cannot be used: " + err.Error()
		return q, nil
	}
	key := keyOfRequest("", req)
	known, ok := c.compiled[key]
	if !ok {
		known = e.compile(req)
		c.compiled[key] = known
	}
	switch {
	case known.baseErr != nil && known.headErr != nil:
		return q, known.baseErr
	case known.baseErr != nil:
		q.Doubt = "base rejects it: " + known.baseErr.Error()
	case known.headErr != nil:
		q.Doubt = "head rejects it: " + known.headErr.Error()
	default:
		q.base, q.head = known.base, known.head
	}
	return q, nil
}

// compile compiles a query for both sides.
func (e *engines) compile(req gql.Request) (out compiled) {
	out.base, out.baseErr = e.baseSchema.Compile(req)
	out.head, out.headErr = out.base, out.baseErr
	if e.headSchema != e.baseSchema {
		out.head, out.headErr = e.headSchema.Compile(req)
	}
	return out
}

// A Subject is an integration whose desired state can be told.
type Subject struct {
	Queries []CompiledQuery
	State   integration.StateFunc // when there are no queries
	Shards  *settings.Shards
	Order   settings.ListOrder
}

// CanFind returns nil when the selector can find something in the answer of at
// least one of the queries, or when that cannot be known.
func (s Subject) CanFind(selector settings.Selector) error {
	var last error
	for _, q := range s.Queries {
		if q.base == nil || q.head == nil {
			return nil
		}
		if last = q.base.CheckSelector(steps(selector)); last == nil {
			return nil
		}
		if q.head != q.base && q.head.CheckSelector(steps(selector)) == nil {
			return nil
		}
	}
	return last
}

// steps returns the steps of a selector as the engine names them.
func steps(s settings.Selector) []gql.Step {
	kinds := map[settings.StepKind]gql.SelectorStepKind{
		settings.Field:   gql.StepField,
		settings.Items:   gql.StepItems,
		settings.Members: gql.StepMembers,
	}
	out := make([]gql.Step, 0, len(s.Steps))
	for _, step := range s.Steps {
		out = append(out, gql.Step{Kind: kinds[step.Kind], Key: step.Name})
	}
	return out
}

// typesChanged tells whether JSON schemas or GraphQL types changed. Both sides are
// then evaluated as a whole.
func (c *Comparison) typesChanged() bool { return len(c.diff.Schemas)+len(c.diff.GraphQL) > 0 }

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

// isUnaffected tells whether both sides are known to answer a request alike, to the
// byte, without evaluating it: nothing that it reads can see the change. It says
// no where that is not certain.
func (c *Comparison) isUnaffected(req gql.Request) bool {
	if c.isLive() || c.typesChanged() || !c.comparable() || !c.mentions().IsComplete() {
		return false
	}
	q, err := c.Compile("", req)
	if err != nil || q.base == nil || q.base != q.head || readsWhole(q.base.Footprint()) {
		return false
	}
	r := c.reach(q.base)
	for i, root := range q.base.Roots() {
		if isOpaque(root) || root.Kind != gql.RootConstant && len(c.candidates(root, r.roots[i])) > 0 {
			return false
		}
	}
	return true
}

// readsWhole tells whether a query reads an object with all its content, down to
// the order of its keys.
func readsWhole(p *gql.Position) bool {
	return len(p.Whole) > 0 || slices.ContainsFunc(p.Children, func(c gql.Child) bool { return readsWhole(c.Pos) })
}

// unchangedFilesAreEqual tells whether the files that both sides have stand in the
// same order, those outside of the diff have the same bytes, and no file changed its
// schema. Then answers can differ through the files of the diff alone.
func (c *Comparison) unchangedFilesAreEqual() bool {
	changed := map[bundle.Path]bool{}
	for _, list := range [][]bundle.Change{c.diff.Datafiles, c.diff.Resources, c.diff.Backrefs} {
		for _, f := range list {
			changed[f.Path] = true
			if f.Old != nil && f.New != nil && f.Old.Schema != f.New.Schema {
				return false
			}
		}
	}
	common := func(files []*bundle.File, find func(bundle.Path) (*bundle.File, bool)) []*bundle.File {
		return slices.DeleteFunc(slices.Clone(files), func(f *bundle.File) bool { _, ok := find(f.Path); return !ok })
	}
	same := func(a, b *bundle.File) bool {
		return a == b || a.Path == b.Path && (changed[a.Path] || string(a.Raw()) == string(b.Raw()))
	}
	return slices.EqualFunc(common(c.base.Datafiles(), c.head.Datafile), common(c.head.Datafiles(), c.base.Datafile),
		same) &&
		slices.EqualFunc(common(c.base.Resources(), c.head.Resource), common(c.head.Resources(), c.base.Resource), same)
}
