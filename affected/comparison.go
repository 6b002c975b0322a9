package affected

import (
	"fmt"
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
