package armtest

import (
	"fmt"
	"io"
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

// SetState lets the service say that a resource is in another state, such as Failed.
func (s *Server) SetState(id, state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.objects[key(id)]; o != nil {
		o.state = state
		s.touch(o)
	}
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

// An object is a resource that the service keeps.
type object struct {
	id      string // as the first request spelled it
	kind    string // in lower case
	body    map[string]any
	version int       // rises with each change
	visible time.Time // from when it is found
	state   string    // provisioningState
	running *operation
}

// name returns the last part of an id.
func name(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }

// touch gives a changed object a new version.
func (s *Server) touch(o *object) {
	s.version++
	o.version = s.version
}

// etag returns the version of an object as the service tells it.
func (o *object) etag() string { return fmt.Sprintf(`"0x%04X"`, o.version) }

// whole returns an object as the service answers it.
func (s *Server) whole(o *object) map[string]any {
	b := s.behaviours[o.kind]
	body := clone(o.body)
	for _, path := range b.WriteOnly {
		unset(body, path)
	}
	for path, child := range b.Inline {
		set(body, path, s.inline(o, child))
	}
	words := strings.NewReplacer("{name}", name(o.id), "{id}", o.id)
	for path, text := range b.Computed {
		set(body, path, words.Replace(text))
	}
	body["id"], body["name"] = o.id, name(o.id)
	if strings.Contains(key(o.id), "/providers/") {
		body["type"] = spelledKind(o.id)
	}
	if b.Style != Immediate {
		set(body, "properties.provisioningState", o.state)
	}
	if b.ETag == BodyETag {
		body["etag"] = o.etag()
	}
	return body
}

// spelledKind returns the type of an id as the id spells it.
func spelledKind(id string) string {
	at := strings.LastIndex(strings.ToLower(id), "/providers/")
	parts := strings.Split(id[at+len("/providers/"):], "/")
	out := []string{parts[0]}
	for i := 1; i < len(parts); i += 2 {
		out = append(out, parts[i])
	}
	return strings.Join(out, "/")
}

// inline returns the children of an object as the items of a list.
func (s *Server) inline(o *object, child string) []any {
	items := []any{}
	for _, id := range s.children(key(o.id), child) {
		items = append(items, s.whole(s.objects[id]))
	}
	return items
}

// children returns the ids of the objects of one collection below an id, sorted.
func (s *Server) children(id, collection string) []string {
	prefix := id + "/" + strings.ToLower(collection) + "/"
	return slices.Sorted(maps.Keys(maps.Collect(func(yield func(string, bool) bool) {
		for k := range s.objects {
			if strings.HasPrefix(k, prefix) && !strings.Contains(k[len(prefix):], "/") && !yield(k, true) {
				return
			}
		}
	})))
}

// replaceInline makes the children of an object those that a list of its body names, and takes the
// list out of the body. A list that is missing keeps them only if the type merges.
func (s *Server) replaceInline(o *object) {
	b := s.behaviours[o.kind]
	for path, child := range b.Inline {
		v, there := get(o.body, path)
		unset(o.body, path)
		items, _ := v.([]any)
		if !there && b.Merges {
			continue
		}
		wanted := map[string]bool{}
		for _, item := range items {
			body, ok := clone(item).(map[string]any)
			title, named := body["name"].(string)
			if !ok || !named {
				continue
			}
			id := o.id + "/" + child + "/" + title
			wanted[key(id)] = true
			c := s.objects[key(id)]
			if c == nil {
				c = &object{id: id, kind: o.kind + "/" + strings.ToLower(child), state: "Succeeded"}
				s.objects[key(id)] = c
			}
			strip(body, s.behaviours[c.kind])
			if c.body == nil || !same(c.body, body) {
				c.body = body
				s.touch(c)
			}
		}
		for _, id := range s.children(key(o.id), child) {
			if !wanted[id] {
				s.drop(id)
			}
		}
	}
}

// drop removes an object and all below it.
func (s *Server) drop(id string) {
	if o := s.objects[id]; o != nil && s.behaviours[o.kind].SoftDeletes {
		s.deleted[id] = o
	}
	maps.DeleteFunc(s.objects, func(k string, _ *object) bool { return k == id || strings.HasPrefix(k, id+"/") })
}

// sendObject answers an object with its version.
func (s *Server) sendObject(c *call, status int, o *object) {
	if s.behaviours[o.kind].ETag == HeaderETag {
		c.answer.Header().Set("ETag", o.etag())
	}
	c.send(status, s.whole(o))
}

// purge gives the name of a deleted object free, which takes as long as other operations on it.
func (s *Server) purge(c *call, o *object) {
	b := s.behaviours[o.kind]
	switch {
	case o.running != nil:
		c.refuse(http.StatusConflict, "AnotherOperationInProgress", "", "it is being purged")
		return
	case b.Style == Immediate || b.Takes == 0:
		delete(s.deleted, key(o.id))
		c.send(http.StatusOK, nil)
		return
	}
	op := s.begins(c, o, http.MethodPost, nil)
	op.purges = true
	if b.RetryAfter > 0 {
		c.answer.Header().Set("Retry-After", seconds(b.RetryAfter))
	}
	if b.Style == AsyncOperation {
		c.answer.Header().Set("Azure-AsyncOperation", op.address("operationStatuses"))
	} else {
		c.answer.Header().Set("Location", op.address("operationResults"))
	}
	c.send(http.StatusAccepted, nil)
}

// servesDeleted answers requests about resources whose names are reserved, at
// …/providers/{provider}/locations/{location}/deleted{Types}/{name}, and POST …/purge there.
func (s *Server) servesDeleted(c *call) bool {
	p := c.parts
	if len(p) < 8 || !strings.EqualFold(p[2], "providers") || !strings.EqualFold(p[4], "locations") ||
		!strings.HasPrefix(strings.ToLower(p[6]), "deleted") {
		return false
	}
	kind := strings.ToLower(p[3] + "/" + strings.TrimPrefix(strings.ToLower(p[6]), "deleted"))
	for id, o := range s.deleted {
		if o.kind != kind || !strings.EqualFold(name(id), p[7]) || !strings.HasPrefix(id, key("/subscriptions/"+p[1])+"/") {
			continue
		}
		switch {
		case len(p) == 8 && c.r.Method == http.MethodGet:
			about := map[string]any{"vaultId": o.id, "location": o.body["location"]}
			c.send(http.StatusOK, map[string]any{"id": c.id(), "name": p[7], "properties": about})
		case len(p) == 9 && strings.EqualFold(p[8], "purge") && c.r.Method == http.MethodPost:
			s.purge(c, o)
		default:
			c.refuse(http.StatusMethodNotAllowed, "MethodNotAllowed", "", "a deleted resource is read or purged")
		}
		return true
	}
	c.refuse(http.StatusNotFound, "DeletedVaultNotFound", "", "no deleted resource has this name")
	return true
}

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
