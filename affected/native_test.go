package affected

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// An asked is a server that remembers what it was asked.
type asked struct {
	response *gql.Response
	last     gql.Request
}

func (a *asked) Answer(_ context.Context, req gql.Request) *gql.Response {
	a.last = req
	return a.response
}

// An answer without errors is one, an answer with some of them says what is missing, and no data are no answer.
func TestPartialQuerier(t *testing.T) {
	data := bundle.NewObject(bundle.Member{Key: "a", Value: "x"})
	errs := []gql.Error{{Message: "m", Path: []any{"a", 2}}}
	said := []integration.FieldError{{Message: "m", Path: []any{"a", float64(2)}}}
	for name, tt := range map[string]struct {
		response *gql.Response
		want     string
		err      any
	}{
		"an answer": {&gql.Response{Status: 200, HasData: true, Data: data}, `{"a":"x"}`, nil},
		"some errors": {&gql.Response{Status: 200, HasData: true, Data: data, Errors: errs}, "",
			&integration.AnswerError{Data: []byte(`{"a":"x"}`), Errors: said}},
		"no data":        {&gql.Response{Status: 200, Errors: errs}, "", &integration.NoAnswerError{Errors: said}},
		"a bad question": {&gql.Response{Status: 400, Errors: errs}, "", errors.New("m")},
	} {
		server := &asked{response: tt.response}
		got, err := PartialQuerier(server)(t.Context(), "{a}", map[string]any{"x": 1})
		if string(got) != tt.want || !reflect.DeepEqual(err, tt.err) {
			t.Errorf("%s: got %s, %v, want %s, %v", name, got, err, tt.want, tt.err)
		}
		if x, _ := server.last.Variables.Get("x"); server.last.Query != "{a}" || x != bundle.Number("1") {
			t.Errorf("%s: asked %+v", name, server.last)
		}
	}
	if _, err := PartialQuerier(&asked{})(t.Context(), "{a}", map[string]any{"x": func() {}}); err == nil {
		t.Error("variables that are no JSON were sent")
	}
}
