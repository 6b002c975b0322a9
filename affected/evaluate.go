package affected

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
)

// evaluateReached answers a query on both sides for the root elements that can
// see the change. All others are the same on both sides.
func (j *judgement) evaluateReached(ctx context.Context, q Query) {
	e, err := j.engines()
	if err != nil {
		j.doubt(plan.RungFields, "%v", err)
		return
	}
	r := j.reach(q.base)
	ev := j.evidence(q)
	ev.Reached, ev.Fields = len(r.direct), r.fields
	base, head := &bundle.Object{}, &bundle.Object{}
	for i, root := range q.base.Roots() {
		found := j.candidates(root, r.roots[i])
		if len(found) == 0 || root.Kind == gql.RootConstant {
			continue
		}
		ev.Roots += len(found)
		b, h := []any{}, []any{}
		for _, p := range found {
			old, was := j.element(ctx, e.base, j.World.base, q.base, i, p, "base")
			now, is := j.element(ctx, e.head, j.World.head, q.head, i, p, "head")
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
	if ev.Roots > 0 {
		j.base, j.head = append(j.base, base), append(j.head, head)
	}
	if ev.Roots > 0 || j.reads(q.base, r) {
		j.untouched = false
	}
	j.decision.Evidence.Queries = append(j.decision.Evidence.Queries, ev)
}

// reads tells whether a changed field is one that the query reads, or a file
// that was added or removed is one that it can read.
func (j *judgement) reads(q *gql.Query, r reach) bool {
	if len(r.fields) > 0 {
		return true
	}
	schemas := q.Schemas()
	for _, c := range j.diff.Datafiles {
		if r.direct[c.Path] && slices.ContainsFunc(c.Schemas(), func(s bundle.Schema) bool { return slices.Contains(schemas, s) }) {
			return true
		}
	}
	for _, c := range j.diff.Resources {
		if r.direct[c.Path] {
			return true
		}
	}
	return false
}

// element evaluates one root element on one side and tells whether it is there.
func (j *judgement) element(ctx context.Context, e *gql.Engine, b *bundle.Bundle, q *gql.Query, root int, p bundle.Path, side string) (any, bool) {
	r := q.Roots()[root]
	f, ok := b.Datafile(p)
	if r.Resources() {
		f, ok = b.Resource(p)
	}
	if !ok {
		return nil, false
	}
	el := e.Element(ctx, q, r, f)
	if len(el.Errors) > 0 {
		j.doubt(plan.RungState, "%s of %s: %s answers with an error: %s", r.Key, p, side, firstLine(el.Errors[0].Message))
	}
	return el.Value, el.Present
}

// native asks a native integration for its desired state on both sides.
func (j *judgement) native(ctx context.Context) {
	base, head, err := j.nativeStates(ctx, j.subject.State)
	if err != nil {
		j.doubt(plan.RungState, "%s", firstLine(err.Error()))
		return
	}
	j.whole = true
	j.base, j.head = []any{base}, []any{head}
}

func (w *World) nativeStates(ctx context.Context, s integration.Stater) (base, head any, err error) {
	e, err := w.engines()
	if err != nil {
		return nil, nil, err
	}
	if base, err = nativeState(ctx, s, e.base); err != nil {
		return nil, nil, fmt.Errorf("desired state on base: %w", err)
	}
	if head, err = nativeState(ctx, s, e.head); err != nil {
		return nil, nil, fmt.Errorf("desired state on head: %w", err)
	}
	return base, head, nil
}

// nativeState contains panics: a bug in an integration makes it run.
func nativeState(ctx context.Context, s integration.Stater, e *gql.Engine) (state any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	v, err := s.DesiredState(ctx, Querier(e))
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return bundle.ParseValue(raw)
}

// Querier lets a native integration ask an engine.
func Querier(e *gql.Engine) integration.QueryFunc {
	return func(ctx context.Context, query string, variables map[string]any) ([]byte, error) {
		raw, err := json.Marshal(variables)
		if err != nil {
			return nil, err
		}
		v, err := bundle.ParseValue(raw)
		if err != nil {
			return nil, err
		}
		object, _ := v.(*bundle.Object)
		res := e.Answer(ctx, gql.Request{Query: query, Variables: object})
		if len(res.Errors) > 0 {
			return nil, errors.New(res.Errors[0].Message)
		}
		return res.DataJSON(), nil
	}
}
