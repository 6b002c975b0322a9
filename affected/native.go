package affected

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
	"github.com/app-sre/prcheck/integration"
)

// nativeStates returns the desired states of a native integration on both sides.
func (c *Comparison) nativeStates(ctx context.Context, s integration.StateFunc) (base, head any, err error) {
	onBase, onHead, err := c.answerers(c.engines)
	if err != nil {
		return nil, nil, err
	}
	if base, err = nativeState(ctx, s, onBase); err != nil {
		return nil, nil, fmt.Errorf("desired state on base: %w", err)
	}
	if head, err = nativeState(ctx, s, onHead); err != nil {
		return nil, nil, fmt.Errorf("desired state on head: %w", err)
	}
	return base, head, nil
}

// nativeState returns the desired state of a native integration on one side. A
// panic of the integration becomes an error, so that the integration runs.
func nativeState(ctx context.Context, s integration.StateFunc, e Answerer) (state any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	v, err := s(ctx, Querier(e))
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return bundle.ParseValue(raw)
}

// Querier returns the function by which a native integration queries one side.
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
