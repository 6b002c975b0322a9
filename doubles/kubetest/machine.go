package kubetest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// EnvControllers names the variable that names the program kube-controller-manager.
const EnvControllers = "PRCHECK_KUBE_CONTROLLER_MANAGER"

// controllers are those that a test can need.
const controllers = "deployment-controller,replicaset-controller,statefulset-controller,cronjob-controller,job-controller,garbage-collector-controller,namespace-controller"

// Control starts the controllers of Deployments, ReplicaSets, StatefulSets, CronJobs, Jobs,
// namespaces and of what has no owner any more. They end with the test, which is skipped if the
// variable [EnvControllers] names no program. Pods need [Real.RunPods] besides.
func (r *Real) Control(t testing.TB) {
	t.Helper()
	program := os.Getenv(EnvControllers)
	if program == "" {
		t.Skip(EnvControllers + " names no kube-controller-manager")
	}
	file := filepath.Join(r.dir, "controllers.kubeconfig")
	text := fmt.Sprintf(
		`{"apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
"clusters": [{"name": "c", "cluster": {"server": %q, "insecure-skip-tls-verify": true}}], "users": [{"name": "u", "user": {"token": %q}}]}`, r.URL, r.tokens["admin"])
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r.run(t, program, "--kubeconfig", file, "--controllers", controllers, "--leader-elect=false", "--secure-port", "0",
		"--kube-api-qps", "500", "--kube-api-burst", "500", "--namespace-sync-period", "10s")
}

// Machines play the machines of a real API server: they run and end its pods.
type Machines struct {
	test testing.TB
	real *Real
	fate func(pod map[string]any) Fate

	mu   sync.Mutex
	pods map[string]map[string]any // by path
	most map[string]int            // by the path of a Deployment or StatefulSet
}

// RunPods lets machines run the pods of the server until the test ends. The fate of a pod is asked
// again and again; nil means that all are ready.
func (r *Real) RunPods(t testing.TB, fate func(pod map[string]any) Fate) *Machines {
	t.Helper()
	if fate == nil {
		fate = func(map[string]any) Fate { return Ready }
	}
	m := &Machines{test: t, real: r, fate: fate, pods: map[string]map[string]any{}, most: map[string]int{}}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() {
		if err := m.work(ctx); err != nil && ctx.Err() == nil {
			t.Errorf("the machines stopped: %v", err)
		}
	})
	t.Cleanup(func() { cancel(); work.Wait() })
	return m
}

// MostPods returns how many pods of a Deployment or StatefulSet were there at once, at most. Pods
// that are being deleted count as well, and so do those of an object of this name that was there
// before.
func (m *Machines) MostPods(path string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.most[path]
}

// work follows the pods of the server. It sees each of their changes, in order.
func (m *Machines) work(ctx context.Context) error {
	answer, err := m.open(ctx, http.MethodGet, "/api/v1/pods", "") //nolint:bodyclose // readAll closes it
	if err != nil {
		return err
	}
	raw, err := readAll(answer)
	if err != nil {
		return err
	}
	var list struct {
		Metadata struct{ ResourceVersion string }
		Items    []map[string]any
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	for _, pod := range list.Items {
		m.note("ADDED", pod)
	}
	at := list.Metadata.ResourceVersion
	for ctx.Err() == nil {
		for _, pod := range m.known() {
			m.run(ctx, pod)
		}
		if at, err = m.watch(ctx, at); err != nil {
			return err
		}
	}
	return nil
}

// watch runs pods as they change, for a second, and returns the last version that it saw.
func (m *Machines) watch(ctx context.Context, at string) (string, error) {
	raw, err := m.open(ctx, http.MethodGet, "/api/v1/pods?watch=1&timeoutSeconds=1&resourceVersion="+at, "")
	if err != nil {
		return at, err
	}
	defer func() { _ = raw.Body.Close() }() // nothing is written through it
	events := json.NewDecoder(raw.Body)
	for {
		var e struct {
			Type   string
			Object map[string]any
		}
		if events.Decode(&e) != nil {
			return at, nil // the second is over
		}
		if e.Type == "ERROR" {
			return at, fmt.Errorf("watching pods: %s", encode(e.Object))
		}
		at = textOf(mapOf(e.Object["metadata"])["resourceVersion"])
		m.note(e.Type, e.Object)
		if e.Type != "DELETED" {
			m.run(ctx, e.Object)
		}
	}
}

// note keeps what is known of a pod, and counts.
func (m *Machines) note(event string, pod map[string]any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	path := pathOf(pod)
	if event == "DELETED" {
		delete(m.pods, path)
		return
	}
	m.pods[path] = pod
	root := rootOf(pod)
	n := 0
	for _, p := range m.pods {
		if rootOf(p) == root {
			n++
		}
	}
	m.most[root] = max(m.most[root], n)
}

func (m *Machines) known() []map[string]any {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []map[string]any
	for _, p := range m.pods {
		out = append(out, p)
	}
	return out
}

func pathOf(pod map[string]any) string {
	m := mapOf(pod["metadata"])
	return "/api/v1/namespaces/" + textOf(m["namespace"]) + "/pods/" + textOf(m["name"])
}

// rootOf returns the path of the Deployment or StatefulSet that a pod was made for, by its name
// and its labels: an orphan has no owner any more. It is "" for other pods.
func rootOf(pod map[string]any) string {
	m := mapOf(pod["metadata"])
	labels, folder := mapOf(m["labels"]), "/apis/apps/v1/namespaces/"+textOf(m["namespace"])
	name, _, _ := cutLast(textOf(m["name"]), "-")
	if labels["statefulset.kubernetes.io/pod-name"] != nil {
		return folder + "/statefulsets/" + name
	}
	if labels[hashLabel] != nil {
		name, _, _ = cutLast(name, "-")
		return folder + "/deployments/" + name
	}
	return ""
}

// run does what a machine does with a pod: the next step that it needs.
func (m *Machines) run(ctx context.Context, pod map[string]any) {
	fate, path := m.fate(copyOf(pod)), pathOf(pod)
	if mapOf(pod["metadata"])["deletionTimestamp"] != nil {
		if fate != Lingering {
			m.try(ctx, http.MethodDelete, path, `{"gracePeriodSeconds": 0}`)
		}
		return
	}
	if mapOf(pod["spec"])["nodeName"] == nil {
		m.try(ctx, http.MethodPost, path+"/binding",
			fmt.Sprintf(
				`{"apiVersion": "v1", "kind": "Binding", "metadata": {"name": %q}, "target": {"kind": "Node", "name": "node"}}`,
				mapOf(pod["metadata"])["name"]))
		return
	}
	want := statusOf(pod, fate)
	if looks(want) != looks(mapOf(pod["status"])) {
		m.try(ctx, http.MethodPatch, path+"/status", string(encode(map[string]any{"status": want})))
	}
}

// looks returns what matters of the status of a pod.
func looks(status map[string]any) string {
	text := fmt.Sprint(status["phase"], isReady(map[string]any{"status": status}))
	for _, c := range listOf(status["containerStatuses"]) {
		text += fmt.Sprint(" ", mapOf(c)["restartCount"], mapOf(mapOf(c)["state"], "waiting")["reason"])
	}
	return text
}

// try sends a request about a pod. It does not matter if the pod is gone or was changed
// meanwhile, because its next state is seen as well.
func (m *Machines) try(ctx context.Context, method, path, body string) {
	answer, err := m.open(ctx, method, path, body) //nolint:bodyclose // readAll closes it
	if err != nil {
		return // the pod is tried again with the next watch
	}
	raw, _ := readAll(answer) // for the message alone
	if code := answer.StatusCode; code >= 300 && code != http.StatusNotFound && code != http.StatusConflict {
		m.test.Errorf("%s %s: %d %s", method, path, code, raw)
	}
}

func (m *Machines) open(ctx context.Context, method, path, body string) (*http.Response, error) {
	kind := "application/json"
	if method == http.MethodPatch {
		kind = "application/merge-patch+json"
	}
	return m.real.open(ctx, "admin", method, path, kind, body)
}
