package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/operation"
)

const thing = "/subscriptions/s/resourceGroups/g/providers/A.B/things/a"

// object is a JSON object.
type object = map[string]any

// A sent is a request as a service got it.
type sent struct {
	method, path, query, media string
	header                     http.Header
	body                       any
}

// A service is a tiny one in memory. It knows no type: it keeps what is put.
type service struct {
	t      *testing.T
	family family.Family

	mu      sync.Mutex
	things  map[string]object
	version map[string]int
	log     []sent
	now     time.Time
	waits   []time.Duration

	etag func(object) string // the header of a thing; nil is its version
	// before is called with each request; an answer of it is the answer.
	before func(sent) *http.Response
}

func newService(t *testing.T, f family.Family) *service {
	t.Helper()
	return &service{t: t, family: f, things: map[string]object{}, version: map[string]int{},
		now: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)}
}

func (s *service) client() *Client {
	endpoint, err := url.Parse("https://cloud.example")
	if err != nil {
		s.t.Fatal(err)
	}
	return &Client{Family: &s.family, Endpoint: endpoint, Transport: s, Random: func() float64 { return 0.5 },
		Clock: operation.Clock{Now: s.time, Sleep: s.sleep}}
}

func (s *service) time() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *service) sleep(ctx context.Context, d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits, s.now = append(s.waits, d), s.now.Add(d)
	return context.Cause(ctx)
}

// target is the thing of the tests.
func target(a Abilities) Target {
	return Target{Type: "A.B/things@1", Abilities: a, Address: family.Address{Path: thing, ID: thing,
		Key: strings.ToLower(thing), Name: "a",
		Collection: thing[:len(thing)-2], Root: "/subscriptions/s", Chain: strings.ToLower(thing),
		Query: url.Values{"api-version": {"1"}}}}
}

// put keeps a thing.
func (s *service) put(path string, v object) {
	s.things[path] = v
	s.version[path]++
}

// writes returns the requests that were no reads.
func (s *service) writes() []sent {
	var out []sent
	for _, r := range s.log {
		if r.method != http.MethodGet {
			out = append(out, r)
		}
	}
	return out
}

func (s *service) RoundTrip(req *http.Request) (*http.Response, error) {
	r := sent{method: req.Method, path: req.URL.Path, query: req.URL.RawQuery, media: req.Header.Get("Content-Type"),
		header: req.Header}
	if req.Body != nil {
		raw, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		if r.body, err = body.Parse(raw); err != nil {
			s.t.Errorf("%s: a body that is no JSON: %v", req.Method, err)
		}
	}
	s.mu.Lock()
	s.log = append(s.log, r)
	before := s.before
	s.mu.Unlock()
	if before != nil {
		if res := before(r); res != nil {
			if res.StatusCode == 0 {
				return nil, fmt.Errorf("the line is cut")
			}
			return res, nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.handle(r), nil
}

// handle does what a request asks for.
func (s *service) handle(r sent) *http.Response {
	path := r.path
	if r.method == http.MethodPost {
		path += "/a"
	}
	old, isThere := s.things[path]
	tag := s.tag(path)
	switch match := r.header.Get("If-Match"); {
	case isThere &&
		(r.header.Get("If-None-Match") == "*" || r.method == http.MethodPost && strings.HasSuffix(r.path, "/things")):
		return answer(http.StatusPreconditionFailed, nil)
	case !isThere && r.method != http.MethodPut && r.method != http.MethodPost:
		return answer(http.StatusNotFound, nil)
	case match != "" && tag != "" && match != tag:
		return answer(http.StatusPreconditionFailed, nil)
	}
	status := http.StatusOK
	switch r.method {
	case http.MethodGet:
		return answer(status, old, "ETag", tag)
	case http.MethodDelete:
		delete(s.things, path)
		return answer(http.StatusOK, nil)
	case http.MethodPatch:
		s.put(path, body.Merge(old, r.body).(object))
	default:
		if !isThere {
			status = http.StatusCreated
		}
		s.put(path, r.body.(object))
	}
	return answer(status, s.things[path], "ETag", s.tag(path))
}

func (s *service) tag(path string) string {
	v, isThere := s.things[path]
	switch {
	case !isThere:
		return ""
	case s.etag != nil:
		return s.etag(v)
	}
	return fmt.Sprintf(`"%d"`, s.version[path])
}

// answer makes an answer with a JSON body, none for nil.
func answer(status int, v any, headers ...string) *http.Response {
	res := &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody, ProtoMajor: 1, ProtoMinor: 1}
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] != "" {
			res.Header.Set(headers[i], headers[i+1])
		}
	}
	if v == nil {
		return res
	}
	raw, _ := json.Marshal(v) // values of tests always encode
	if res.Header.Get("Content-Type") == "" {
		res.Header.Set("Content-Type", mediaJSON)
	}
	res.Body = io.NopCloser(bytes.NewReader(raw))
	return res
}

// failing is an answer with an error of a code.
func failing(status int, code string, headers ...string) *http.Response {
	return answer(status, object{"error": object{"code": code, "message": "no"}}, headers...)
}

// A script is a planner that wants one change, whatever is there.
type script struct{ change *Change }

func (p *script) Plan(context.Context, Live) (*Change, error)      { return p.change, nil }
func (p *script) Mutate(_ context.Context, s Sending) (any, error) { return s.Body, nil }

func (p *script) Left(context.Context, Live) ([]Difference, error) { return nil, nil }

// A memory notes what it is told.
type memory struct {
	mu      sync.Mutex
	intents int
	began   []operation.Operation
	err     error
}

func (m *memory) Intend(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.intents++
	return m.err
}

func (m *memory) Began(_ context.Context, o operation.Operation) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.began = append(m.began, o)
	return m.err
}
