package manifests_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"testing"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/natives/kube"
)

// A real is a real API server. Its test plays the controllers.
type real struct {
	*kubetest.Real
	t testing.TB
}

const mergePatch = "application/merge-patch+json"

// send sends a request of the administrator, which must succeed.
func (r real) send(t testing.TB, method, path, kind string, body any) []byte {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	code, answer := r.Send(t, "admin", method, path, kind, string(raw))
	if code >= http.StatusBadRequest && !(code == http.StatusNotFound && method != http.MethodPost) {
		t.Fatalf("%s %s: %d %s", method, path, code, answer)
	}
	return answer
}

func (r real) Object(path string) map[string]any {
	code, raw := r.Send(r.t, "admin", http.MethodGet, path, "", "")
	if code == http.StatusNotFound {
		return nil
	}
	return parse(r.t, string(raw))
}

func (r real) Edit(t testing.TB, manager, at string, change func(object map[string]any)) {
	t.Helper()
	o := r.Object(at)
	if o != nil {
		change(o)
		r.send(t, http.MethodPut, at+"?fieldManager="+manager, "application/json", o)
		return
	}
	o = map[string]any{"metadata": map[string]any{"name": path.Base(at)}}
	change(o)
	r.send(t, http.MethodPost, path.Dir(at)+"?fieldManager="+manager, "application/json", o)
	if o["status"] != nil {
		r.send(t, http.MethodPatch, at+"/status", mergePatch, map[string]any{"status": o["status"]})
	}
}

func (r real) Remove(path string) {
	r.send(r.t, http.MethodPatch, path, mergePatch, parse(r.t, `{"metadata": {"finalizers": null}}`))
}

func (r real) Post(t testing.TB, manager, path string, object []byte) {
	t.Helper()
	r.send(t, http.MethodPost, path+"?fieldManager="+manager, "application/json", json.RawMessage(object))
}

func (r real) Untrack(t testing.TB, path string) {
	t.Helper()
	r.send(t, http.MethodPatch, path, mergePatch, parse(t, `{"metadata": {"managedFields": [{}]}}`))
}

// Scale lets kubectl scale an object, if the program is kubectl and is there.
func (r real) Scale(t testing.TB, program, at string, pods int) {
	t.Helper()
	if program != "kubectl" || !r.HasKubectl() {
		r.send(t, http.MethodPatch, at+"/scale?fieldManager="+program, mergePatch,
			map[string]any{"spec": map[string]any{"replicas": pods}})
		return
	}
	kind := path.Base(path.Dir(at))
	if _, trouble, ok := r.Real.Kubectl(t, "admin", "", "-n", "n", "scale", kind, path.Base(at),
		fmt.Sprintf("--replicas=%d", pods)); !ok {
		t.Fatal(trouble)
	}
}

// Kubectl sends what a command of kubectl sends.
func (r real) Kubectl(t testing.TB, command, at, patch string) {
	t.Helper()
	r.send(t, http.MethodPatch, at+"?fieldManager=kubectl-"+command, "application/strategic-merge-patch+json",
		json.RawMessage(patch))
}

// clear removes all objects of the tests.
func (r real) clear(t testing.TB) {
	t.Helper()
	for _, list := range []string{"/apis/apps/v1/namespaces/n/deployments", "/apis/apps/v1/namespaces/n/statefulsets",
		"/apis/batch/v1/namespaces/n/cronjobs",
		"/api/v1/namespaces/n/services", "/api/v1/namespaces/n/pods", "/api/v1/namespaces/n/persistentvolumeclaims"} {
		items, _ := parse(t, string(r.send(t, http.MethodGet, list, "", nil)))["items"].([]any)
		for _, item := range items {
			name := item.(map[string]any)["metadata"].(map[string]any)["name"].(string)
			r.send(t, http.MethodDelete, list+"/"+name+"?gracePeriodSeconds=0", "", nil)
			r.Remove(list + "/" + name)
		}
	}
}

// The tests that need no controller hold on a real server as they do on the one in memory.
func TestOnRealServer(t *testing.T) {
	s := kubetest.Start(t)
	r := real{s, t}
	r.send(t, http.MethodPost, "/api/v1/namespaces", "application/json", parse(t, `{"metadata": {"name": "n"}}`))
	r.send(t, http.MethodPost, "/api/v1/namespaces/n/serviceaccounts", "application/json",
		parse(t, `{"metadata": {"name": "default"}}`))
	r.send(t, http.MethodPost, "/apis/storage.k8s.io/v1/storageclasses", "application/json",
		parse(t, `{"metadata": {"name": "gp2"}, "provisioner": "x", "allowVolumeExpansion": true}`))
	before := newServer
	t.Cleanup(func() { newServer = before })
	newServer = func(t testing.TB) (server, kube.Access) {
		t.Helper()
		r.clear(t)
		return real{s, t}, kube.Access{Name: "c1", Server: s.URL, Token: s.Token("admin"), Insecure: true,
			Integration: "integrations-manager"}
	}
	for name, test := range map[string]func(*testing.T){"changes": TestChanges, "killed": TestKilled,
		"take over": TestTakeOver, "adopt": TestAdopt,
		"agrees": TestDiffAgreesWithServer, "scaled": TestScaledByOthers, "undone": TestUndone, "order": TestOrder} {
		t.Run(name, test)
	}
}
