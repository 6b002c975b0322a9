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

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
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

// scalePart is the end of the path of a scale, by which kubectl scale, autoscalers and KEDA set a
// number of pods.
const scalePart = "/scale"

// asScale is the kind of a scale.
var asScale = schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}

// replicas is where the kinds that have a scale keep their number of pods.
var replicas = managedfields.ResourcePathMappings{"apps/v1": fieldpath.MakePathOrDie("spec", "replicas")}

// scaled returns what the path of a scale is the scale of; false if the path is none of a scale.
func (s *Server) scaled(path string) (place, bool) {
	of, isScale := strings.CutSuffix(path, scalePart)
	at, known := s.parse(of)
	return at, isScale && known && at.name != "" && (at.kind == "Deployment" || at.kind == "StatefulSet" ||
		at.kind == "ReplicaSet")
}

// answerScale answers a request to the scale of an object. The managers of its number of pods are kept
// by the code that a real server uses. A scale leaves out the number 0, and so nobody is the
// manager of that number.
func (s *Server) answerScale(w http.ResponseWriter, r *http.Request, at place, raw []byte) {
	if s.objects[at.path] == nil {
		refuse(w, at, http.StatusNotFound, "NotFound", fmt.Sprintf("%s.%s %q not found", at.resource, at.group, at.name), nil)
		return
	}
	old := s.objects[at.path].body
	if r.Method == http.MethodGet {
		_, _ = w.Write(encode(scaleOf(old)))
		return
	}
	managers := managedfields.NewScaleHandler(objectOf(old).GetManagedFields(),
		schema.GroupVersion{Group: "apps", Version: "v1"}, replicas)
	next, err := s.rescale(r, scaleOf(old), managers, raw)
	if err != nil {
		refuse(w, at, http.StatusBadRequest, "BadRequest", err.Error(), nil)
		return
	}
	entries, err := managers.ToParent(next.GetManagedFields())
	if err != nil {
		fail(w, at, err)
		return
	}
	is := objectOf(old)
	is.SetManagedFields(entries)
	is.SetResourceVersion(next.GetResourceVersion())
	n, _, _ := unstructured.NestedInt64(next.Object, "spec", "replicas")
	dig(is.Object, "spec")["replicas"] = n
	if !s.prepare(w, at, is.Object, old) {
		return
	}
	if !equal(withoutTimes(is.Object), withoutTimes(old)) && !isDry(r) {
		s.save(at.path, is.Object)
	}
	_, _ = w.Write(encode(scaleOf(is.Object)))
}

// rescale returns a scale as a request makes it, with the managers of its number.
func (s *Server) rescale(r *http.Request, is map[string]any, managers *managedfields.ScaleHandler,
	raw []byte) (*unstructured.Unstructured, error) {
	m := s.scaleModel()
	entries, err := managers.ToSubresource()
	if err != nil {
		return nil, err
	}
	live := objectOf(is)
	live.SetManagedFields(entries)
	change := patches[r.Header.Get("Content-Type")]
	if r.Method == http.MethodPut {
		change = func(_ *model, _ map[string]any, body []byte) (map[string]any, error) { return decode(body) }
	}
	if change == nil {
		return nil, fmt.Errorf("the body of the request was in an unknown format")
	}
	next, err := change(m, copyOf(live.Object), raw)
	if err == nil {
		next, err = m.complete(next)
	}
	if err != nil {
		return nil, err
	}
	out, err := m.fields.Update(live, objectOf(next), managerOf(r))
	if err != nil {
		return nil, err
	}
	return objectOf(bodyOf(out)), nil
}

// scaleModel returns what the server knows of scales.
func (s *Server) scaleModel() *model {
	m := s.models[asScale]
	if m == nil {
		m = newModel(asScale, strings.TrimPrefix(scalePart, "/"))
		s.models[asScale] = m
	}
	return m
}

// scaleOf returns the scale of an object.
func scaleOf(body map[string]any) map[string]any {
	m, out := mapOf(body["metadata"]), map[string]any{}
	for _, name := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp"} {
		out[name] = m[name]
	}
	spec := map[string]any{}
	if n := number(mapOf(body["spec"])["replicas"]); n != 0 {
		spec["replicas"] = int64(n)
	}
	return map[string]any{
		"apiVersion": asScale.GroupVersion().String(), "kind": asScale.Kind, "metadata": out, "spec": spec,
		"status": map[string]any{"replicas": int64(number(mapOf(body["status"])["replicas"])),
			"selector": selectorText(mapOf(body["spec"], "selector"))},
	}
}

// selectorText returns a selector as the text by which one can list.
func selectorText(selector map[string]any) string {
	var of meta.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(selector, &of); err != nil {
		return ""
	}
	out, err := meta.LabelSelectorAsSelector(&of)
	if err != nil {
		return ""
	}
	return out.String()
}

// Scale sets a number of pods as kubectl scale does: by the scale of the object, without saying a
// manager, so that the name of the program is the manager. Autoscalers do the same.
func (s *Server) Scale(t testing.TB, program, path string, pods int) {
	t.Helper()
	s.mustPatch(t, path+scalePart, "application/merge-patch+json", program+"/v1.37.2 (linux/amd64)",
		fmt.Sprintf(`{"spec":{"replicas":%d}}`, pods))
}

// Kubectl changes an object as a command of kubectl does, such as edit, patch or set: by a
// strategic merge patch whose fields belong to kubectl-COMMAND then.
func (s *Server) Kubectl(t testing.TB, command, path, patch string) {
	t.Helper()
	s.mustPatch(t, path+"?fieldManager=kubectl-"+command, "application/strategic-merge-patch+json",
		"kubectl/v1.37.2 (linux/amd64)", patch)
}

// mustPatch sends a patch of a program. It is no request of the code that is tested, and is not noted.
func (s *Server) mustPatch(t testing.TB, path, kind, agent, patch string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPatch, path, strings.NewReader(patch))
	r.Header.Set("Content-Type", kind)
	r.Header.Set("User-Agent", agent)
	w := httptest.NewRecorder()
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, isScale := s.scaled(r.URL.Path); isScale {
		s.answerScale(w, r, at, []byte(patch))
	} else if at, known := s.parse(r.URL.Path); known {
		s.patch(w, r, at, []byte(patch))
	}
	if w.Code != http.StatusOK || w.Body.Len() == 0 {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
}
