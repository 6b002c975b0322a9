package affected

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
)

// native asks a native integration for its desired state on both sides.
func (j *judgement) native(ctx context.Context) {
	base, head, err := j.nativeStates(ctx, j.subject.State)
	if err != nil {
		j.doubt(plan.RungState, "%s", firstLine(err.Error()))
		return
	}
	j.touched, j.whole = true, true
	j.base, j.head = []any{base}, []any{head}
}

func (w *World) nativeStates(ctx context.Context, s integration.Stater) (base, head any, err error) {
	on, err := w.sides()
	if err != nil {
		return nil, nil, err
	}
	if base, err = nativeState(ctx, s, on.base); err != nil {
		return nil, nil, fmt.Errorf("desired state on base: %w", err)
	}
	if head, err = nativeState(ctx, s, on.head); err != nil {
		return nil, nil, fmt.Errorf("desired state on head: %w", err)
	}
	return base, head, nil
}

// nativeState contains panics: a bug in an integration makes it run.
func nativeState(ctx context.Context, s integration.Stater, e Answerer) (state any, err error) {
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

// Querier lets a native integration ask one side.
func Querier(e Answerer) integration.QueryFunc {
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
