package affected

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/crash"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
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
			err = errors.New(crash.Text(p))
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

// Querier returns the function by which a native integration queries one side. An answer with
// errors is an error.
func Querier(e Answerer) integration.QueryFunc {
	query := PartialQuerier(e)
	return func(ctx context.Context, text string, variables map[string]any) ([]byte, error) {
		raw, err := query(ctx, text, variables)
		if partial := (*integration.AnswerError)(nil); errors.As(err, &partial) {
			return nil, errors.New(partial.Errors[0].Message)
		}
		return raw, err
	}
}

// PartialQuerier is [Querier], but an answer that has data and errors is an
// [integration.AnswerError].
func PartialQuerier(e Answerer) integration.QueryFunc {
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
		if len(res.Errors) == 0 {
			return res.DataJSON(), nil
		}
		_, hasData := res.Data.(*bundle.Object)
		switch {
		case res.Status != 200:
			return nil, errors.New(res.Errors[0].Message)
		case !hasData:
			return nil, &integration.NoAnswerError{Errors: fieldErrors(res.Errors)}
		}
		return nil, &integration.AnswerError{Data: res.DataJSON(), Errors: fieldErrors(res.Errors)}
	}
}

// fieldErrors returns errors as they are decoded from JSON.
func fieldErrors(all []gql.Error) []integration.FieldError {
	var out []integration.FieldError
	for _, e := range all {
		f := integration.FieldError{Message: e.Message}
		for _, part := range e.Path {
			if i, isPosition := part.(int); isPosition {
				part = float64(i)
			}
			f.Path = append(f.Path, part)
		}
		out = append(out, f)
	}
	return out
}
