package affected

import (
	"sync"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
	"github.com/app-sre/prcheck/integration"
)

// A World is the two bundles of a change with what is worked out about them
// once for all integrations. It is not safe for use by several goroutines.
type World struct {
	base, head *bundle.Bundle
	diff       *bundle.Diff
	mentions   func() *bundle.Mentions
	engines    func() (*engines, error)
	servers    func() (*engines, error) // the same, but never narrowed
	canonical  func() bool              // see isCanonical
	thorough   bool
	live       *sides                                   // nil when the engines answer
	held       map[bundle.Path]map[string][]bundle.Path // see holders
	compiled   map[askedKey]compiled
	compared   map[comparedKey]*comparison
	digests    map[askedKey]string // of answers, see answered
	seen       map[string]*Seen    // nil: not to be told
}

// compiled is a query text for both sides, or why one of them rejects it.
type compiled struct {
	base, head       *gql.Query
	baseErr, headErr error
}

// engines answer queries over the two bundles.
type engines struct {
	base, head             *gql.Engine
	baseSchema, headSchema *gql.Schema
}

// NewWorld prepares the comparison of two bundles; diff is what
// [bundle.Compare] said about them. Nothing is computed before it is needed.
func NewWorld(base, head *bundle.Bundle, diff *bundle.Diff) *World {
	w := &World{
		base: base, head: head, diff: diff,
		held:     map[bundle.Path]map[string][]bundle.Path{},
		compiled: map[askedKey]compiled{},
		compared: map[comparedKey]*comparison{},
		digests:  map[askedKey]string{},
		seen:     map[string]*Seen{},
	}
	w.mentions = sync.OnceValue(func() *bundle.Mentions { return bundle.IndexMentions(base, head) })
	w.canonical = sync.OnceValue(w.isCanonical)
	w.servers = sync.OnceValues(func() (*engines, error) { return newEngines(base, head) })
	w.engines = sync.OnceValues(func() (*engines, error) {
		e, err := newEngines(base, head)
		if err == nil && w.live == nil && w.mentions().IsComplete() {
			e.base.UseMentions(w.mentions())
			e.head.UseMentions(w.mentions())
		}
		return e, err
	})
	return w
}

// Thorough makes every further judgement evaluate desired states as a whole on
// both sides, to check what was decided by looking only where the change can
// reach; and what a trace says of a bundle is asked of the bundle again. An error
// that both sides answer with alike is then no doubt.
func (w *World) Thorough() { w.thorough = true }

// Mentions returns the index of what the datafiles of both bundles mention.
func (w *World) Mentions() *bundle.Mentions { return w.mentions() }

func newEngines(base, head *bundle.Bundle) (*engines, error) {
	b, err := gql.NewSchema(base.GraphQL())
	if err != nil {
		return nil, err
	}
	h := b
	if !base.HasSameGraphQL(head) {
		if h, err = gql.NewSchema(head.GraphQL()); err != nil {
			return nil, err
		}
	}
	return &engines{gql.New(base, b), gql.New(head, h), b, h}, nil
}

// A Query is a declared or recorded query, compiled for both sides.
type Query struct {
	Name  string
	Text  string
	Doubt string // why it cannot be compared; "" when it can

	request    gql.Request
	base, head *gql.Query
}

// Compile reads a query. It is an error when base and head both reject it. When
// only one does, the query cannot be compared and says so in its Doubt.
func (w *World) Compile(name string, req gql.Request) (Query, error) {
	q := Query{Name: name, Text: req.Query, request: req}
	e, err := w.engines()
	if err != nil {
		q.Doubt = "the GraphQL types of a bundle cannot be used: " + err.Error()
		return q, nil
	}
	key := asked("", req)
	c, ok := w.compiled[key]
	if !ok {
		c = e.compile(req)
		w.compiled[key] = c
	}
	switch {
	case c.baseErr != nil && c.headErr != nil:
		return q, c.baseErr
	case c.baseErr != nil:
		q.Doubt = "base rejects it: " + c.baseErr.Error()
	case c.headErr != nil:
		q.Doubt = "head rejects it: " + c.headErr.Error()
	default:
		q.base, q.head = c.base, c.head
	}
	return q, nil
}

func (e *engines) compile(req gql.Request) (c compiled) {
	c.base, c.baseErr = e.baseSchema.Compile(req)
	c.head, c.headErr = c.base, c.baseErr
	if e.headSchema != e.baseSchema {
		c.head, c.headErr = e.headSchema.Compile(req)
	}
	return c
}

// A Subject is an integration whose desired state can be told.
type Subject struct {
	Queries []Query
	State   integration.Stater // when there are no queries
	Shards  *integration.Shards
	Order   integration.ListOrder
}

// CanFind returns nil when the selector can find something in the answer of at
// least one of the queries, or when that cannot be known.
func (s Subject) CanFind(selector integration.Selector) error {
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

func steps(s integration.Selector) []gql.Step {
	kinds := map[integration.StepKind]gql.StepKind{
		integration.Field:   gql.StepField,
		integration.Items:   gql.StepItems,
		integration.Members: gql.StepMembers,
	}
	out := make([]gql.Step, 0, len(s.Steps))
	for _, step := range s.Steps {
		out = append(out, gql.Step{Kind: kinds[step.Kind], Key: step.Name})
	}
	return out
}

// typesChanged tells whether a skip needs both sides evaluated as a whole.
func (w *World) typesChanged() bool { return len(w.diff.Schemas)+len(w.diff.GraphQL) > 0 }
