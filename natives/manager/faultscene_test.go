package manager

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/kube"
	"github.com/app-sre/prcheck/natives/kube/writer"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
)

// A roughManager is a manager of a rough scene; it works for one upstream, or for all.
type roughManager struct {
	upstream string
	state    *notebook
	hasLost  bool // its state got lost once
}

// A rough scene is two clusters, and managers that keep them as a model says while things go
// wrong.
type rough struct {
	*rand.Rand
	mu       sync.Mutex // of Rand, during a run
	t        *testing.T
	clusters []*kubetest.Server
	types    *testData
	model    *model
	managers []*roughManager
	foreign  map[string]string // versions of the objects of others, by their names
	isBusy   bool              // the controllers of the clusters work at each reading
	serial   int               // of the objects of others

	// Of one run.
	dead   bool
	end    context.CancelFunc
	left   int  // requests until the manager is killed; -1: it is not
	rate   int  // of 100 requests go wrong
	dying  int  // the cluster that dies with the request left; -1: none
	fired  bool // something went wrong
	said   []string
	log    strings.Builder
	writes int
}

// newRough returns a scene in which nothing was deployed yet.
func newRough(t *testing.T, seed uint64, clusters []*kubetest.Server) *rough {
	r := &rough{Rand: rand.New(rand.NewPCG(seed, 7)), t: t, clusters: clusters, types: example(t),
		foreign: map[string]string{}, left: -1, dying: -1}
	for i, c := range clusters {
		c.Fail(nil)
		for _, p := range c.Paths() {
			c.Remove(p)
		}
		c.Forget()
		for n := range 4 {
			c.Edit(t, "kubectl", fmt.Sprintf("/api/v1/namespaces/ns%d", n), func(map[string]any) {})
		}
		c.Fail(func(q *http.Request) *kubetest.Fault { return r.fault(i, q) })
	}
	r.model = randomModel(r.Rand)
	r.fill()
	r.isBusy = r.IntN(6) == 0
	upstreams := []string{""}
	if r.IntN(3) == 0 {
		upstreams = []string{"https://github.com/x/a", "https://github.com/x/b"}
	}
	for _, u := range upstreams {
		r.managers = append(r.managers, &roughManager{upstream: u, state: &notebook{docs: map[string][]byte{}}})
	}
	return r
}

// serverOf returns the number of the cluster that has a name in the data.
func serverOf(name string) int {
	if strings.HasPrefix(name, "c-1") {
		return 1
	}
	return 0
}

// fault decides whether a request goes wrong, and how.
func (r *rough) fault(cluster int, q *http.Request) *kubetest.Fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	isList := q.Method == http.MethodGet && strings.HasSuffix(q.URL.Path, "s")
	if isList && r.IntN(2) == 0 {
		values := q.URL.Query()
		values.Set("limit", "2") // so a list has pages
		q.URL.RawQuery = values.Encode()
	}
	if q.Method == http.MethodGet && (r.isBusy && r.IntN(3) == 0 || strings.HasSuffix(q.URL.Path, "/pods")) {
		r.clusters[cluster].Step()
	}
	if r.left--; r.left == 0 {
		r.dead, r.fired = r.dying < 0, true
		if r.dead {
			r.end()
		}
		if r.IntN(2) == 0 {
			return &kubetest.Fault{Lost: true}
		}
	}
	switch {
	case r.dead, r.left <= 0 && r.dying == cluster:
		return &kubetest.Fault{Status: http.StatusServiceUnavailable}
	case r.IntN(100) >= r.rate:
		return nil
	}
	r.fired = true
	return r.randomFault(isList)
}

// randomFault returns one way to go wrong.
func (r *rough) randomFault(isList bool) *kubetest.Fault {
	refused := func(code int, reason string) *kubetest.Fault {
		return &kubetest.Fault{Status: code,
			Body: fmt.Sprintf(
				`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "no", "reason": %q, "code": %d}`, reason,
				code)}
	}
	all := []*kubetest.Fault{
		{Status: 503}, {Status: 500, Body: "oh"}, {Status: 429}, {Cut: true}, {Lost: true}, {Lost: true},
		refused(403, "Forbidden"), refused(401, "Unauthorized"), refused(409, "Conflict"),
		{Status: 200, Body: "{}"}, {Status: 200, Body: "null"}, {Status: 200, Body: "<html>"}, {Status: 302},
	}
	if isList {
		all = append(all, refused(410, "Expired"), refused(410, "Expired"),
			&kubetest.Fault{Status: 200,
				Body: `{"kind": "DeploymentList", "apiVersion": "apps/v1", "metadata": {"resourceVersion": "1"}}`})
	}
	return all[r.IntN(len(all))]
}

// rest says that nothing goes wrong from now on.
func (r *rough) rest() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dead, r.left, r.rate, r.dying, r.fired = false, -1, 0, -1, false
	for _, m := range r.managers {
		m.state.ask = nil
		// time goes by
		maps.DeleteFunc(m.state.docs, func(key string, _ []byte) bool { return strings.HasPrefix(key, "leases/") })
	}
}

// access returns how a cluster is reached.
func (r *rough) access(ref integration.ClusterRef) kube.Access {
	c := r.clusters[serverOf(ref.Name)]
	return kube.Access{Name: ref.Name, Server: c.URL, Token: c.Token, Integration: Name, Pause: time.Microsecond}
}

// A runOf says what one run is made with.
type runOf struct {
	by       *roughManager
	data     *testData
	query    integration.QueryFunc
	settings settings.Integration
	leftGoes bool
	workers  int
}

// env returns the environment of a run.
func (r *rough) env(of runOf) integration.Environment {
	r.said = nil
	r.log.Reset()
	return integration.Environment{
		Integration: Name, Settings: of.settings, Query: of.query, State: state.ReadOnly(of.by.state), Log: &r.log,
		Workers: of.workers,
		Now:     func() time.Time { return time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC) },
		Cluster: func(_ context.Context, ref integration.ClusterRef) (integration.ClusterReader, error) {
			return kube.Open(r.access(ref))
		},
		Report: func(f integration.Remark) {
			r.mu.Lock()
			defer r.mu.Unlock()
			text := fmt.Sprintf("%s %s %s", f.Severity, f.Code, f.Message)
			if f.Effect != nil {
				text = fmt.Sprintf("step %s %s", f.Action, f.Effect.Subject)
			}
			r.said = append(r.said, text)
		},
	}
}

// run makes a run or a dry run, and reports whether it fails.
func (r *rough) run(of runOf, isDry bool) (err error, fails bool) {
	ctx, end := context.WithCancel(r.t.Context())
	defer end()
	r.end = end
	if r.rate > 0 || r.dying >= 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, time.Second)
		defer stop()
	}
	env := r.env(of)
	for _, c := range r.clusters {
		c.Forget()
	}
	if isDry {
		err = New().DryRun(ctx, env)
	} else {
		err = New().Run(ctx, env,
			integration.Actors{State: of.by.state,
				Cluster: func(_ context.Context, ref integration.ClusterRef) (integration.ClusterWriter, error) {
					return writer.Open(r.access(ref))
				}})
	}
	r.writes = 0
	for _, c := range r.clusters {
		r.writes += len(c.Writes())
	}
	return err, err != nil || slices.ContainsFunc(r.said, func(f string) bool { return strings.HasPrefix(f, "error") })
}

// settle lets the controllers come to rest, if they work at all.
func (r *rough) settle() {
	for _, c := range r.clusters {
		if r.isBusy {
			c.Settle()
		}
	}
}

// snapshot returns all objects that a manager could have made, by cluster, namespace, kind and
// name.
func (r *rough) snapshot() map[string]object {
	out := map[string]object{}
	for i, c := range r.clusters {
		for _, p := range c.Paths() {
			o := c.Object(p)
			switch o["kind"] {
			case "Deployment", "StatefulSet", "CronJob", "Service":
				m := field(o, "metadata")
				out[fmt.Sprintf("%d/%v/%v/%v", i, m["namespace"], o["kind"], m["name"])] = o
			}
		}
	}
	return out
}

// physical returns the name in a snapshot of the object of a key of the manager.
func physical(key string) string {
	cluster, rest, _ := strings.Cut(key, "/")
	return fmt.Sprintf("%d/%s", serverOf(cluster), rest)
}

// shape returns what a manager decides of an object, as JSON.
func shape(t *testing.T, o object) string {
	o = maps.Clone(o)
	delete(o, "status")
	m := maps.Clone(field(o, "metadata"))
	for _, name := range []string{"resourceVersion", "generation", "managedFields"} {
		delete(m, name)
	}
	o["metadata"] = m
	return textJSON(t, o)
}

// isOurs reports whether a manager made an object: it has our annotation, we applied it, and it
// belongs to no other object.
func isOurs(o object) bool {
	m := field(o, "metadata")
	raw, err := json.Marshal(m["managedFields"])
	return err == nil && field(m, "annotations")["qontract.integration"] == Name &&
		field(m, "annotations")["qontract.integration_version"] == nil &&
		m["ownerReferences"] == nil && strings.Contains(string(raw), `"prcheck-`+Name+`"`)
}

// callerOf returns the upstream that an object is marked with.
func callerOf(o object) string {
	caller, _ := field(field(o, "metadata"), "annotations")["qontract.caller_name"].(string)
	return caller
}
