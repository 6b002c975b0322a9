package ci

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/gitlabtest"
)

const secret = "glpat-canary/tok+en_123"

var mr = MergeRequest{Project: gitlabtest.Project, IID: gitlabtest.IID}

// A memory is a transport that calls a handler without a network, so that tests can use a
// fake clock.
type memory struct{ http.Handler }

func (m memory) RoundTrip(req *http.Request) (res *http.Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler {
				panic(p)
			}
			res, err = nil, io.ErrUnexpectedEOF
		}
	}()
	if req.Body != nil {
		raw, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(raw))
	}
	w := httptest.NewRecorder()
	m.ServeHTTP(w, req)
	if req.Context().Err() != nil {
		return nil, req.Context().Err()
	}
	res = w.Result()
	res.Request = req
	return res, nil
}

// client returns a client of a server, without a network.
func client(t *testing.T, s http.RoundTripper) *Client {
	t.Helper()
	c, err := New(Options{API: "https://gitlab.test/api/v4", Token: Token{Value: secret}, Settle: DefaultSettle,
		Transport: s})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// server returns a fake GitLab with the token of the tests. The test fails if it gets a wrong
// request.
func server(t *testing.T) *gitlabtest.Server {
	s := &gitlabtest.Server{Token: secret, JobToken: "job-" + secret}
	t.Cleanup(func() {
		for _, wrong := range s.Wrong() {
			t.Error(wrong)
		}
	})
	return s
}

// A fake is a Note whose body contains a generation, a text, and the number of previous
// bodies.
type fake struct {
	generation int64
	text       string
}

const marker = "<!-- prcheck:test "

func (fake) Marker() string { return marker }

func (fake) Generation(body string) (int64, bool) {
	rest, ok := strings.CutPrefix(body, marker)
	word, _, closed := strings.Cut(rest, " -->")
	n, err := strconv.ParseInt(word, 10, 64)
	return n, ok && closed && err == nil
}

func (f fake) Body(previous string) (string, error) {
	if f.text == "broken" {
		return "", errors.New("it cannot be rendered")
	}
	before := "nothing"
	if g, ok := f.Generation(previous); ok {
		before = fmt.Sprint(g)
	}
	return fmt.Sprintf("%s%d -->\n%s, before it was %s\n", marker, f.generation, f.text, before), nil
}

// writes returns the requests that change something.
func writes(s *gitlabtest.Server) []string {
	var out []string
	for _, r := range s.Requests() {
		if !strings.HasPrefix(r, "GET ") {
			out = append(out, strings.Replace(r, "/api/v4/projects/7/merge_requests/12/", "", 1))
		}
	}
	return out
}

// took runs do and returns how long it took, in whole seconds.
func took(do func()) time.Duration {
	begin := time.Now()
	do()
	return time.Since(begin).Round(time.Second)
}
