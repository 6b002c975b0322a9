package kubetest

import (
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

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A Server is an API server in memory. Objects are named by their path, such as
// /api/v1/namespaces/shop or /apis/apps/v1/namespaces/shop/deployments/web.
type Server struct {
	URL    string
	Token  string // that a client must have
	Nobody string // token of the user "nobody", who has no role
	// Kinds has the kind of each resource that the server knows, by the plural name. Tests may
	// add to it before the first request.
	Kinds map[string]string
	// Versions has the apiVersion of kinds that tests add, by the plural name, for those who ask
	// which kinds there are. Without one it is that of the kinds in core, apps and batch.
	Versions map[string]string
	// ClusterScoped are the plural names of kinds, beside namespaces, that are in no namespace.
	ClusterScoped []string
	Old           bool // it lists its kinds as servers before Kubernetes 1.27 do
	// Finalizing says that a deleted namespace stays until [Server.Finalize].
	Finalizing bool
	// Fate says what becomes of a pod; nil means that all are ready. It must not call the server.
	Fate func(pod map[string]any) Fate
	// Working says that the controllers take a step before each request. By default they work
	// only in [Server.Settle] and [Server.Step].
	Working bool
	// Logs are what the containers of pods wrote, by the path of the pod.
	Logs map[string]string
	// Deny says why a policy of the cluster denies an object that is to be made, "" if none does. Nil
	// denies nothing.
	Deny func(object map[string]any) string
	// Overdue says that Deployments which are not done have missed their deadline.
	Overdue bool

	models map[schema.GroupVersionKind]*model // what the server knows of kinds

	mu       sync.Mutex
	fault    func(r *http.Request) *Fault
	version  int                 // of the newest object
	changes  int                 // how often anything changed
	pods     int                 // that were made
	roots    map[string]string   // what pods and ReplicaSets were made for: the path of a Deployment or StatefulSet
	most     map[string]int      // of its pods at once, by that path
	objects  map[string]*object  // by path
	pages    map[string][]string // what is left of a list, by its token
	requests []Request
}

// A Request is a request that the server got.
type Request struct {
	Verb string // get, list, create, patch or delete
	Path string
	Code int  // status of the answer
	Dry  bool // it asked for dryRun=All
}

// String returns the request on one line.
func (r Request) String() string {
	text := fmt.Sprintf("%s %s %d", r.Verb, r.Path, r.Code)
	if r.Dry {
		text += " dry"
	}
	return text
}

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
		Token: "token-of-the-test-server", Nobody: "token-of-nobody",
		Kinds: map[string]string{
			"namespaces": "Namespace", "configmaps": "ConfigMap", "secrets": "Secret", "services": "Service",
			"serviceaccounts": "ServiceAccount",
			"pods":            "Pod", "persistentvolumeclaims": "PersistentVolumeClaim", "deployments": "Deployment",
			"replicasets":  "ReplicaSet",
			"statefulsets": "StatefulSet", "cronjobs": "CronJob", "jobs": "Job", "resourcequotas": "ResourceQuota",
		},
		Versions: map[string]string{},
		models:   map[schema.GroupVersionKind]*model{},
		objects:  map[string]*object{}, pages: map[string][]string{}, roots: map[string]string{}, most: map[string]int{},
	}
	h := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

// Send sends a request and returns the answer. It is for what a test does beside the code that
// it tests; the request is noted as all others.
func (s *Server) Send(t testing.TB, method, path, kind, body string) (code int, answer []byte) {
	t.Helper()
	return s.SendAs(t, s.Token, method, path, kind, body)
}

// SendAs sends a request with a token, as [Server.Send] does.
func (s *Server) SendAs(t testing.TB, token, method, path, kind, body string) (code int, answer []byte) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	s.answer(w, r)
	return w.Code, w.Body.Bytes()
}

// Requests returns all requests until now.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Writes returns the requests until now that were not get or list, without those with
// dryRun=All.
func (s *Server) Writes() []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return r.Verb == "get" || r.Verb == "list" || r.Dry })
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
		return copyOf(o.body)
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
// change belong to its manager from then on. The rules for changes do not hold for it.
func (s *Server) Edit(t testing.TB, manager, path string, change func(object map[string]any)) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.parse(path)
	if !ok || at.name == "" {
		t.Fatalf("%s names no object", path)
	}
	if err := s.edit(at, manager, change); err != nil {
		t.Fatal(err)
	}
}

// edit is Edit under the lock.
func (s *Server) edit(at place, manager string, change func(object map[string]any)) error {
	m := s.model(at)
	var live map[string]any
	if o := s.objects[at.path]; o != nil {
		live = o.body
	} else {
		live = s.born(m.empty(), at)
	}
	next := copyOf(live)
	change(next)
	next, err := m.complete(copyOf(next))
	if err == nil {
		next, err = m.update(live, next, manager)
	}
	if err == nil {
		countGeneration(next, live)
		s.save(at.path, next)
	}
	return err
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
		if o.body["kind"] == "Namespace" && dig(o.body, "metadata")["deletionTimestamp"] != nil {
			s.remove(path)
		}
	}
}

// remove removes an object, and from a namespace everything in it.
func (s *Server) remove(path string) {
	s.changes++
	delete(s.objects, path)
	name, isNamespace := strings.CutPrefix(path, "/api/v1/namespaces/")
	if !isNamespace || strings.Contains(name, "/") {
		return
	}
	maps.DeleteFunc(s.objects, func(p string, _ *object) bool { return strings.Contains(p, "/namespaces/"+name+"/") })
}

// An object is what is kept of one object. It does not change any more.
type object struct {
	body map[string]any
	raw  []byte // the body as JSON
	item []byte // as it stands in a list: without its type, which the list has
}

// save keeps an object, with a new version if it differs from the one before.
func (s *Server) save(path string, body map[string]any) {
	old := s.objects[path]
	if old != nil && equal(old.body, body) {
		return
	}
	s.version++
	s.changes++
	dig(body, "metadata")["resourceVersion"] = strconv.Itoa(s.version)
	item := maps.Clone(body)
	delete(item, "apiVersion")
	delete(item, "kind")
	s.objects[path] = &object{body, encode(body), encode(item)}
	if m := dig(body, "metadata"); m["deletionTimestamp"] != nil && body["kind"] != "Namespace" &&
		len(listOf(m["finalizers"])) == 0 && body["kind"] != "Pod" {
		s.remove(path)
	}
}
