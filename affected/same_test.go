package affected

import (
	"testing"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
)

// Two answers are the same if their data and their errors are, each error with its code and its path.
func TestSameResponses(t *testing.T) {
	of := func(list []any, errors ...gql.Error) *gql.Response {
		return &gql.Response{Data: bundle.NewObject(bundle.Member{Key: "a", Value: list}), Errors: errors}
	}
	one := gql.Error{Message: "m", Code: "c", Path: []any{"a", "b"}}
	base := of([]any{"x", "y"}, one)
	for name, tt := range map[string]struct {
		head *gql.Response
		same bool
	}{
		"itself":          {base, true},
		"another order":   {of([]any{"y", "x"}, one), true},
		"other data":      {of([]any{"x"}, one), false},
		"no error":        {of([]any{"x", "y"}), false},
		"one error more":  {of([]any{"x", "y"}, one, one), false},
		"another message": {of([]any{"x", "y"}, gql.Error{Message: "n", Code: "c", Path: one.Path}), false},
		"another code":    {of([]any{"x", "y"}, gql.Error{Message: "m", Code: "d", Path: one.Path}), false},
		"another path":    {of([]any{"x", "y"}, gql.Error{Message: "m", Code: "c", Path: []any{"a"}}), false},
	} {
		if got := sameResponses(base, tt.head); got != tt.same {
			t.Errorf("%s: got %v, want %v", name, got, tt.same)
		}
	}
}
