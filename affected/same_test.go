package affected

import (
	"context"
	"errors"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
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

// A steady is a server that answers always the same.
type steady struct{ response *gql.Response }

func (f steady) Answer(context.Context, gql.Request) *gql.Response { return f.response }

// One error of either side is a doubt, and so is a side that cannot answer.
func TestAnswerWhole(t *testing.T) {
	of := func(errors ...string) *gql.Response {
		r := &gql.Response{Data: bundle.NewObject()}
		for _, text := range errors {
			r.Errors = append(r.Errors, gql.Error{Message: text + "\nmore"})
		}
		return r
	}
	for _, tt := range []struct {
		base, head *gql.Response
		want       string
	}{
		{of(), of(), ""},
		{of("b"), of(), "base answers with an error: b"},
		{of(), of("h"), "head answers with an error: h"},
		{of("b"), of("h", "i"), "head answers with an error: h"},
	} {
		c := &Comparison{Options: Options{Base: steady{tt.base}, Head: steady{tt.head}}}
		base, head, doubt := c.answerWhole(t.Context(), CompiledQuery{})
		if base != any(tt.base.Data) || head != any(tt.head.Data) || doubt != tt.want {
			t.Errorf("got %v, %v, %q, want %q", base, head, doubt, tt.want)
		}
	}
	c := &Comparison{engines: func() (*engines, error) { return nil, errors.New("no engine") }}
	if _, _, doubt := c.answerWhole(t.Context(), CompiledQuery{}); doubt != "no engine" {
		t.Errorf("got %q", doubt)
	}
}

// A name in a place is quoted where it could be taken for something else.
func TestField(t *testing.T) {
	for name, want := range map[string]string{"a": "a", "a-b c": "a-b c", "": `""`, "a.b": `"a.b"`, "*": `"*"`,
		"a[": `"a["`, "]": `"]"`, `"`: `"\""`, `\`: `"\\"`} {
		if got := field(name); got != want {
			t.Errorf("%q: got %s, want %s", name, got, want)
		}
	}
}

// The reason is that of the first element that only one side has, and else that of the first one of base.
func TestFirstUnkeyed(t *testing.T) {
	of := func(hashes string) (out []unkeyed) {
		for _, h := range hashes {
			out = append(out, unkeyed{string(h), "why " + string(h)})
		}
		return out
	}
	for _, tt := range []struct{ base, head, want string }{
		{"ab", "b", "why a"}, {"a", "ab", "why b"}, {"ab", "ba", "why a"}, {"aa", "a", "why a"}, {"ab", "abb", "why b"},
		{"abc", "abd", "why c"},
	} {
		if got := firstUnkeyed(of(tt.base), of(tt.head)); got != tt.want {
			t.Errorf("%s and %s: got %q, want %q", tt.base, tt.head, got, tt.want)
		}
	}
}
