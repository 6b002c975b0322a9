package live

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// A step says how the server reacts to one request.
type step struct {
	kind   string // "" for an answer, "cut" for a broken connection and so on
	status int
	body   string
	header http.Header
}

func says(status int, body string, header ...string) step {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return step{status: status, body: body, header: h}
}

var breaks, cut, hangs = step{kind: "breaks"}, step{kind: "cut"}, step{kind: "hangs"}

// A script reacts to requests with its steps in their order, and repeats the last step.
type script struct {
	steps []step
	asked int
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	now := s.steps[min(s.asked, len(s.steps)-1)]
	s.asked++
	switch now.kind {
	case "breaks":
		return nil, errors.New("connection refused")
	case "hangs":
		<-r.Context().Done()
		return nil, r.Context().Err()
	case "endless":
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(zeros{}), Request: r}, nil
	case "cut": // the connection breaks in the middle
		half := io.MultiReader(strings.NewReader("half"), iotest.ErrReader(io.ErrUnexpectedEOF))
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(half), Request: r}, nil
	}
	body := strings.ReplaceAll(now.body, "AUTH", r.Header.Get("Authorization"))
	return &http.Response{StatusCode: now.status, Header: now.header, Body: io.NopCloser(strings.NewReader(body)),
		Request: r}, nil
}

// Zeros is an endless body.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestRetries(t *testing.T) {
	type steps = []step
	for _, c := range []struct {
		name     string
		steps    steps
		requests int
		body     string
		err      string // "" for no error
		least    time.Duration
		most     time.Duration
	}{
		{"good", steps{says(200, "yes")}, 1, "yes", "", 0, 0},
		{"broken, then good", steps{breaks, breaks, says(200, "yes")}, 3, "yes", "", 300 * time.Millisecond,
			600 * time.Millisecond},
		{"cut, then good", steps{cut, says(200, "yes")}, 2, "yes", "", 100 * time.Millisecond, 200 * time.Millisecond},
		{"cut", steps{cut}, 5, "", "the answer was cut short: unexpected EOF (tried 5 times)", 0, time.Minute},
		{"trouble, then good", steps{says(503, "x"), says(200, "yes")}, 2, "yes", "", 100 * time.Millisecond,
			200 * time.Millisecond},
		{"broken", steps{breaks}, 5, "", "connection refused (tried 5 times)", 1500 * time.Millisecond, 3 * time.Second},
		{"trouble", steps{says(500, "oh <b>")}, 5, "", `status 500: "oh <b>" (tried 5 times)`, 1500 * time.Millisecond,
			3 * time.Second},
		{"too many", steps{says(429, "", "Retry-After", "7"), says(200, "yes")}, 2, "yes", "", 7 * time.Second,
			7 * time.Second},
		{"leave me alone for a day", steps{says(503, "", "Retry-After", "86400"), says(200, "yes")}, 2, "yes", "", maxAfter,
			maxAfter},
		{"nonsense", steps{says(503, "", "Retry-After", "-5 years"), says(200, "yes")}, 2, "yes", "", 100 * time.Millisecond,
			200 * time.Millisecond},
		{"not there", steps{says(404, "no")}, 1, "", `status 404: "no"`, 0, 0},
		{"who are you", steps{says(401, "no")}, 1, "",
			`status 401: "no"; put what it wants as Authorization into PRCHECK_AUTHORIZATION`, 0, 0},
		{"elsewhere", steps{says(302, "", "Location", "http://other.example/")}, 1, "", errOtherServer.Error(), 0, 0},
		{"elsewhere without tls", steps{says(302, "", "Location", "http://s.example:81/")}, 1, "", errOtherServer.Error(), 0,
			0},
		{"around", steps{says(302, "", "Location", "/b"), says(200, "yes")}, 2, "yes", "", 0, 0},
		{"around for ever", steps{says(302, "", "Location", "/b")}, 6, "", errTooManyRedirects.Error(), 0, 0},
		{"huge", steps{says(200, strings.Repeat("x", 101))}, 1, "", "the answer is larger than 100 bytes", 0, 0},
		{"slow", steps{hangs}, 5, "", "the answer took more than 5m0s (tried 5 times)", 25 * time.Minute, 26 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{steps: c.steps}
				start := time.Now()
				client := NewClient("http://s.example", Connection{Transport: s, Authorization: "Bearer secret-word"})
				_, body, err := client.do(t.Context(), call{method: http.MethodGet, path: "/a", limit: 100})
				took := time.Since(start)
				want := c.err
				if want != "" {
					want = "asking http://s.example/a: " + want
				}
				if string(body) != c.body || s.asked != c.requests || (err == nil) != (want == "") ||
					err != nil && err.Error() != want {
					t.Errorf("got %q, %d requests, %v; want %q, %d, %s", body, s.asked, err, c.body, c.requests, want)
				}
				if took < c.least || took > c.most {
					t.Errorf("took %v, want %v to %v", took, c.least, c.most)
				}
			})
		})
	}
}

// Canceling the context ends a request and its repetitions.
func TestCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		for _, now := range []step{hangs, says(503, "", "Retry-After", "20")} {
			side := NewSide(Ref{"http://s.example", strings.Repeat("0", 64)}, Connection{Transport: &script{steps: []step{now}}})
			side.Answer(ctx, gql.Request{Query: "{ a }"})
			if err := side.Err(); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		}
	})
}

// The authorization is sent, and appears in no error and no answer.
func TestAuthorization(t *testing.T) {
	for _, status := range []int{200, 403} {
		echo := says(status, `{"errors":[{"message":"AUTH and secret-word"}],"data":null}`)
		side := NewSide(Ref{"http://s.example", strings.Repeat("0", 64)}, Connection{
			Transport: &script{steps: []step{echo}}, Authorization: "Bearer secret-word"})
		res := side.Answer(t.Context(), gql.Request{Query: "{ a }"})
		if msg := res.Errors[0].Message; !strings.Contains(msg, "*** and ***") || strings.Contains(msg, "secret-word") {
			t.Errorf("got %s", msg)
		}
	}
}

// An answer that is not GraphQL is an error.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   string // the error; "" for none
	}{
		{"data", 200, `{"data":{"a":[]},"extensions":{"schemas":["/a.yml"]}}`, ""},
		{"rejected", 400, `{"errors":[{"message":"no"}]}`, ""},
		{"a page", 200, `<html>`, "the answer is not one of GraphQL"},
		{"a list", 200, `[]`, "the answer is not one of GraphQL: it is not a JSON object"},
		{"nothing", 200, `{}`, "it has neither data nor errors"},
		{"null data", 200, `{"data":null}`, "it has neither data nor errors"},
		{"null data and no errors", 200, `{"data":null,"errors":[]}`, "it has neither data nor errors"},
		{"bad data", 200, `{"data":7}`, "its data is not an object"},
		{"bad errors", 200, `{"data":null,"errors":7}`, "its errors are not a list"},
		{"rejected for nothing", 400, `{"data":{}}`, "it has no errors although its status is 400"},
		{"deep", 200, `{"data":` + strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_001),
			"the answer is not one of GraphQL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			side := NewSide(Ref{"http://s.example", strings.Repeat("0", 64)}, Connection{Transport: &script{
				steps: []step{says(c.status, c.body)}}})
			side.Answer(t.Context(), gql.Request{Query: "{ a }"})
			switch err := side.Err(); {
			case c.want == "" && err != nil:
				t.Errorf("got %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// Only paths that get to the server unchanged are requested.
func TestIsSafePath(t *testing.T) {
	for path, want := range map[string]bool{
		"/a.yml": true, "/a b/ü?#%2e.yml": true, "/...": true,
		"": false, "a.yml": false, "/": false, "/a//b": false, "/../a": false, "/a/.": false, "/a/": false,
	} {
		if got := isSafePath(bundle.Path(path)); got != want {
			t.Errorf("%q: got %v", path, got)
		}
	}
}
