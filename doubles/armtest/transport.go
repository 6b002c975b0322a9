package armtest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
)

// Transport answers requests without a network. Nothing of it waits, so it works with the virtual
// time of testing/synctest.
func (s *Server) Transport() http.RoundTripper { return transport{s} }

type transport struct{ server *Server }

func (t transport) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	in := r.Clone(r.Context())
	in.Host = r.URL.Host
	if in.Body == nil {
		in.Body = io.NopCloser(strings.NewReader(""))
	}
	defer func() {
		if cause := recover(); cause == http.ErrAbortHandler { //nolint:errorlint // it is this very value
			answer, err = nil, io.ErrUnexpectedEOF
		} else if cause != nil {
			panic(cause)
		}
	}()
	w := httptest.NewRecorder()
	t.server.ServeHTTP(w, in)
	answer = w.Result()
	answer.Request = r
	if length := answer.Header.Get("Content-Length"); length != "" && length != fmt.Sprint(w.Body.Len()) {
		answer.Body = io.NopCloser(io.MultiReader(strings.NewReader(w.Body.String()), broken{}))
	}
	return answer, nil
}

// broken is what a client reads where the rest of an answer got lost.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
