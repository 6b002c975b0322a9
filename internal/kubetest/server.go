package kubetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Server is an API server in memory. Objects are named by their path, such as
// /api/v1/namespaces/shop or /apis/apps/v1/namespaces/shop/deployments/web.
type Server struct {
	URL   string
	Token string // that a client must have
	// Kinds has the kind of each resource that the server knows, by the plural name. Tests may
	// add to it before the first request.
	Kinds map[string]string
	// Finalizing says that a deleted namespace stays until [Server.Finalize].
	Finalizing bool

	mu       sync.Mutex
	fault    func(r *http.Request) *Fault
	version  int                 // of the newest object
	objects  map[string]*object  // by path
	pages    map[string][]string // what is left of a list, by its token
	requests []Request
}

// A Request is a request that the server got.
type Request struct {
	Verb string // get, list, create, patch or delete
	Path string
	Code int // status of the answer
}

// String returns the request on one line.
func (r Request) String() string { return fmt.Sprintf("%s %s %d", r.Verb, r.Path, r.Code) }

// Fail asks a function before each request from now on. Nil, and the answer nil, mean that the
// server works.
func (s *Server) Fail(fault func(r *http.Request) *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// A Fault says how a request goes wrong.
type Fault struct {
	Delay  time.Duration // before anything is done
	Status int           // the server answers this and does nothing; 0 means that it does its work
	Body   string        // of the answer with Status
	After  string        // Retry-After of the answer with Status
	Cut    bool          // half of the answer gets lost after the work was done
	Lost   bool          // the whole answer gets lost after the work was done
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{
		Token: "token-of-the-test-server",
		Kinds: map[string]string{"namespaces": "Namespace", "configmaps": "ConfigMap", "secrets": "Secret", "deployments": "Deployment"},

		objects: map[string]*object{}, pages: map[string][]string{},
	}
	h := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

// Requests returns all requests until now.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Writes returns the requests until now that were not get or list.
func (s *Server) Writes() []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return r.Verb == "get" || r.Verb == "list" })
}

// Forget empties the list of requests.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = nil
}

// Object returns a copy of an object, nil if there is none.
func (s *Server) Object(path string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.objects[path]; o != nil {
		return copyOf(o.render())
	}
	return nil
}

// Paths returns the paths of all objects, sorted.
func (s *Server) Paths() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.objects))
}

// Edit lets another program change an object, or make it if there is none. The fields that
// change belong to its manager from then on.
func (s *Server) Edit(t testing.TB, manager, path string, change func(object map[string]any)) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.parse(path)
	if !ok || at.name == "" {
		t.Fatalf("%s names no object", path)
	}
	o := s.objects[path]
	if o == nil {
		o = s.make(at)
	}
	body := copyOf(o.body)
	change(body)
	s.save(path, o.edited(manager, body))
}

// Remove removes an object and all that is in it, as nobody else does.
func (s *Server) Remove(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(path)
}

// Finalize removes the namespaces that are being deleted.
func (s *Server) Finalize() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for path, o := range maps.Clone(s.objects) {
		if dig(o.body, "metadata")["deletionTimestamp"] != nil {
			s.remove(path)
		}
	}
}

// remove removes an object, and from a namespace everything in it.
func (s *Server) remove(path string) {
	delete(s.objects, path)
	name, isNamespace := strings.CutPrefix(path, "/api/v1/namespaces/")
	if !isNamespace || strings.Contains(name, "/") {
		return
	}
	maps.DeleteFunc(s.objects, func(p string, _ *object) bool { return strings.Contains(p, "/namespaces/"+name+"/") })
}

// make returns a new object, which is not saved yet.
func (s *Server) make(at place) *object {
	s.version++
	metadata := map[string]any{"name": at.name, "uid": "uid-" + strconv.Itoa(s.version), "creationTimestamp": "2026-01-01T00:00:00Z"}
	body := map[string]any{"apiVersion": at.apiVersion, "kind": at.kind, "metadata": metadata}
	if at.namespace != "" {
		metadata["namespace"] = at.namespace
	}
	if at.kind == "Namespace" {
		metadata["labels"] = map[string]any{"kubernetes.io/metadata.name": at.name}
		body["spec"] = map[string]any{"finalizers": []any{"kubernetes"}}
		body["status"] = map[string]any{"phase": "Active"}
	}
	return &object{body: body, owners: map[owner]fields{}}
}

// save keeps an object, with a new version if it differs from the one before.
func (s *Server) save(path string, o *object) {
	old := s.objects[path]
	if old != nil && equal(old.render(), o.render()) {
		return
	}
	s.version++
	dig(o.body, "metadata")["resourceVersion"] = strconv.Itoa(s.version)
	s.objects[path] = o
}

// dig returns the map at a field of another one, and makes it if there is none.
func dig(m map[string]any, field string) map[string]any {
	inner, ok := m[field].(map[string]any)
	if !ok {
		inner = map[string]any{}
		m[field] = inner
	}
	return inner
}

// copyOf returns a copy that shares nothing.
func copyOf(m map[string]any) map[string]any {
	out, err := decode(encode(m))
	if err != nil {
		panic(err) // it was JSON before
	}
	return out
}

func encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // it was JSON before
	}
	return raw
}

func equal(a, b any) bool { return string(encode(a)) == string(encode(b)) }
