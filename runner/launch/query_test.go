package launch

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Only a whole answer is an answer. Everything else would be an empty world.
func TestWholeAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   string // the data
		error  string
	}{
		{"whole", 200, `{"data":{"users":[]}}`, `{"users":[]}`, ""},
		{"no errors, told in two ways", 200, `{"data":{},"errors":[]}`, `{}`, ""},
		{"null errors", 200, `{"data":{},"errors":null}`, `{}`, ""},
		{"an error beside the data", 200, `{"data":{"users":[]},"errors":[{"message":"no such field"}]}`, "",
			"no such field"},
		{"an error without a message", 200, `{"data":{},"errors":[{}]}`, "", "errors without a message"},
		{"errors of another shape", 200, `{"data":{},"errors":"down"}`, "", "errors without a message"},
		{"an empty object", 200, `{}`, "", "no data"},
		{"null", 200, `null`, "", "no data"},
		{"null data", 200, `{"data":null}`, "", "no data"},
		{"a list as data", 200, `{"data":[]}`, "", "no data"},
		{"a text as data", 200, `{"data":"{}"}`, "", "no data"},
		{"a page", 200, `<html>`, "", "not JSON"},
		{"half a body", 200, `{"data":{"users":[`, "", "not JSON"},
		{"two answers", 200, `{"data":{}}{"data":{}}`, "", "not JSON"},
		{"nothing", 200, ``, "", "not JSON"},
		{"503 with an empty object", 503, `{}`, "", "503 Service Unavailable"},
		{"503 with data", 503, `{"data":{"users":[]}}`, "", "503 Service Unavailable"},
		{"401 with a message", 401, `{"message":"who are you"}`, "", "401 Unauthorized"},
		{"400 with errors", 400, `{"errors":[{"message":"syntax error"}]}`, "", "syntax error"},
		{"204", 204, ``, "", "204 No Content"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = fmt.Fprint(w, c.body) // the client looks at what arrives
			}))
			defer s.Close()
			got, err := queryFunc(s.URL, "")(t.Context(), "{ users }", nil)
			if string(got) != c.want || (err == nil) != (c.error == "") ||
				err != nil && !strings.Contains(err.Error(), c.error) {
				t.Errorf("got %q, %v, want %q, error …%s…", got, err, c.want, c.error)
			}
		})
	}
}

// A server that breaks off or does not answer at all gives an error as well.
func TestCutAnswers(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = fmt.Fprint(w, `{"data":{}}`) // and then the connection ends
	}))
	if got, err := queryFunc(s.URL, "")(t.Context(), "{ users }", nil); err == nil {
		t.Errorf("a cut answer gives %q", got)
	}
	s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := queryFunc(s.URL, "")(ctx, "{ users }", nil); err == nil {
		t.Errorf("no server gives %q", got)
	}
}
