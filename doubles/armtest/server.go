package armtest

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Server is the service. Its exported fields must be set before the first request.
type Server struct {
	URL   string           // where New serves it
	Token string           // that requests must have, "" if none
	Now   func() time.Time // the clock
	// Limits are the limits of each subscription; nil means none.
	Limits *Limits

	mu         sync.Mutex
	addresses  []*address
	behaviours map[string]Behaviour // by type, in lower case
	objects    map[string]*object   // by id, in lower case
	deleted    map[string]*object   // those whose names are reserved, by id
	locks      map[string]string    // by scope, in lower case: what they forbid
	operations map[string]*operation
	started    int            // operations
	version    int            // of the newest body
	failures   map[string]int // how many operations on an id fail after they were taken
	buckets    map[string]*bucket
	fault      func(Request) *Fault
	before     func(Request)
	after      func(Request)
	requests   []Request
	overlaps   []Request
}

// Open returns a service of some specifications that knows the behaviour of some types, by their
// names such as Example.Cache/caches/rules. Types without a behaviour keep what they get.
func Open(specifications [][]byte, behaviours map[string]Behaviour) (*Server, error) {
	s := &Server{
		Token: "token-of-the-simulated-service", Now: time.Now,
		behaviours: map[string]Behaviour{}, objects: map[string]*object{}, deleted: map[string]*object{},
		locks: map[string]string{}, operations: map[string]*operation{}, failures: map[string]int{},
		buckets: map[string]*bucket{},
	}
	for kind, b := range behaviours {
		s.behaviours[strings.ToLower(kind)] = b
	}
	for _, raw := range specifications {
		if err := s.read(raw); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// New serves the service of [Example] on loopback until the test ends.
func New(t testing.TB) *Server {
	t.Helper()
	s, err := Example()
	if err != nil {
		t.Fatal(err)
	}
	return Serve(t, s)
}

// Serve serves a service on loopback until the test ends.
func Serve(t testing.TB, s *Server) *Server {
	t.Helper()
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

// Describe gives a type another behaviour from now on.
func (s *Server) Describe(kind string, change func(b *Behaviour)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.behaviours[strings.ToLower(kind)]
	change(&b)
	s.behaviours[strings.ToLower(kind)] = b
}

// Object returns what the service keeps of a resource, with what it never answers, nil if there is
// none.
func (s *Server) Object(id string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	o := s.objects[key(id)]
	if o == nil {
		return nil
	}
	body := s.whole(o)
	for _, path := range s.behaviours[o.kind].WriteOnly {
		if v, there := get(o.body, path); there {
			set(body, path, copyOf(v))
		}
	}
	return body
}

// IDs returns the ids of all resources in lower case, sorted.
func (s *Server) IDs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	return slices.Sorted(maps.Keys(s.objects))
}

// Edit changes a resource as somebody else does. It reports whether the resource is there.
func (s *Server) Edit(id string, change func(body map[string]any)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[key(id)]
	if o == nil {
		return false
	}
	change(o.body)
	s.touch(o)
	return true
}

// Remove deletes a resource and what is below it, as somebody else does.
func (s *Server) Remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(key(id))
}

// Lock forbids something at a scope and below it: CanNotDelete or ReadOnly; "" unlocks it.
func (s *Server) Lock(scope, level string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.locks, key(scope))
	if level != "" {
		s.locks[key(scope)] = level
	}
}

// FailOperations lets the next operations on a resource fail after they were taken.
func (s *Server) FailOperations(id string, times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures[key(id)] = times
}

// Intervene sets functions that see each request: one before the service works on it, one after.
// They may call the server, to edit a resource at just that moment. Nil is none.
func (s *Server) Intervene(before, after func(Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before, s.after = before, after
}

// key returns an id as the server keeps it.
func key(id string) string { return strings.ToLower(strings.TrimSuffix(id, "/")) }

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := s.begin(w, r)
	s.mu.Lock()
	before, after := s.before, s.after
	s.mu.Unlock()
	if before != nil {
		before(c.noted)
	}
	s.mu.Lock()
	fault := s.faultOf(c)
	if fault == nil || fault.Status == 0 {
		s.settle()
		s.serve(c)
	}
	s.requests = append(s.requests, c.noted)
	if c.noted.Running {
		s.overlaps = append(s.overlaps, c.noted)
	}
	s.mu.Unlock()
	if after != nil {
		after(c.noted)
	}
	c.finish(fault)
}
