package generic

import (
	"context"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
	"github.com/app-sre/prcheck/state"
)

const deployment = "/apis/apps/v1/namespaces/shop/deployments/web"

// newKube returns a scene whose service is a server of Kubernetes.
func newKube(t *testing.T) (*scene, *kubetest.Server) {
	t.Helper()
	raw, err := os.ReadFile(shared.Path(t, "data", "specs", "kubernetes-openapi-v3", "apis__apps__v1_openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	cluster := kubetest.New(t)
	s := newScene(t)
	s.World, s.native, s.settings = cloudtest.New(cluster.URL), New(), "hosts: [127.0.0.1]"
	s.Resources = map[string]string{"/specs/apps.json": string(raw)}
	s.Data[cloudtest.API]["family"], s.Data[cloudtest.API]["specifications"] = "kubernetes", []any{"/specs/apps.json"}
	cluster.Edit(t, "admin", "/api/v1/namespaces/shop", func(map[string]any) {})
	s.reach = func(context.Context, integration.EndpointRef) (http.RoundTripper, error) {
		return send(func(r *http.Request) (*http.Response, error) {
			r.Header.Set("Authorization", "Bearer "+cluster.Token)
			res, err := http.DefaultTransport.RoundTrip(r)
			if err == nil {
				res.Header.Set("Content-Type", "application/json") // as a real server says
			}
			return res, err
		}), nil
	}
	return s, cluster
}

// What kubectl made is imported without a mark, and then the plan is empty. Its next change takes
// the fields over, and sets the mark. What others set stays.
func TestImportFromKubernetes(t *testing.T) {
	s, cluster := newKube(t)
	code, told := cluster.Send(t, http.MethodPatch, deployment+"?fieldManager=kubectl&force=true",
		"application/apply-patch+yaml", `{"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": {"name": "web", "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "canary"}}, "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}},
		"template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "i:1", "env": [{"name": "A", "value": "1"}], "resources": {"limits": {"cpu": "0.5"}}}]}}}}`)
	if code != http.StatusCreated {
		t.Fatalf("%d %s", code, told)
	}
	all, err := s.importAll(deployment)
	if err != nil || len(all) != 1 || !all[0].Unmarked {
		t.Fatalf("got %+v, %v", all, err)
	}
	if text := string(all[0].Text); strings.Contains(text, "canary") || strings.Contains(text, "managedFields") ||
		strings.Contains(text, "status") {
		t.Errorf("the data show too much:\n%s", text)
	}
	file := "/" + all[0].File
	s.Add(file, object{"type": all[0].Entry.Type, "resourceId": all[0].Entry.ResourceID, "body": all[0].Entry.Body})
	quiet := func(when string) {
		t.Helper()
		cluster.Forget()
		for range 2 {
			if s.must(); s.did() != "" || len(cluster.Writes()) > 0 {
				t.Errorf("%s: %s, %v\n%s", when, s.did(), cluster.Writes(), &s.log)
			}
		}
	}
	quiet("after the import")

	head := body.Clone(all[0].Entry.Body).(map[string]any)
	head["spec"].(map[string]any)["replicas"] = 3
	s.Data[file]["body"] = head
	s.must()
	live := cluster.Object(deployment)
	mark, _ := body.Get(live, "/metadata/annotations/qontract.integration")
	image, _ := body.Get(live, "/spec/template/spec/containers/0/image")
	replicas, _ := body.Get(live, "/spec/replicas")
	if s.did() != "update web done" || mark != Name || image != "i:1" || body.Text(replicas) != "3" {
		t.Errorf("after a change: %s, %v %v %v\n%s", s.did(), mark, image, replicas, &s.log)
	}
	quiet("after the change")

	if s.state, err = state.Open(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	cluster.Forget()
	if s.must(); s.did() != "none web done" || len(cluster.Writes()) > 0 { // it is only remembered
		t.Errorf("with another state: %s, %v", s.did(), cluster.Writes())
	}
}

// podTemplate has of each kind of list and map that pods have.
const podTemplate = `{"metadata": {"labels": {"app": "x", "b": "2"}, "annotations": {"c": "3"}}, "spec": {
		"containers": [{"name": "a", "image": "i:1", "command": ["x", "y"], "env": [{"name": "A", "value": "1"}, {"name": "B", "value": ""}],
			"ports": [{"name": "http", "containerPort": 80, "protocol": "TCP"}, {"containerPort": 53, "protocol": "UDP"}],
			"resources": {"limits": {"cpu": "0.5", "memory": "1024Mi"}, "requests": {"cpu": "100m"}}, "volumeMounts": [{"name": "v", "mountPath": "/v", "readOnly": true}],
			"livenessProbe": {"httpGet": {"path": "/", "port": "http"}, "periodSeconds": 7}, "imagePullPolicy": "Always"}, {"name": "b", "image": "j:1"}],
		"volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "configMap": {"name": "w", "items": [{"key": "k", "path": "p"}]}}],
		"nodeSelector": {"x": "y"}, "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}], "serviceAccountName": "s", "terminationGracePeriodSeconds": 5}}`

// workloads are the specs of objects, by kind.
var workloads = map[string]string{
	"Deployment": `{"replicas": 2, "selector": {"matchLabels": {"app": "x"}}, "minReadySeconds": 3, "revisionHistoryLimit": 4, "paused": true,
		"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "50%", "maxUnavailable": 0}}, "template": ` + podTemplate + `}`,
	"StatefulSet": `{"replicas": 1, "serviceName": "s", "selector": {"matchLabels": {"app": "x"}}, "podManagementPolicy": "Parallel", "updateStrategy": {"type": "OnDelete"}, "template": ` + podTemplate + `}`,
}

// neededByPods are the members without which a server refuses an object, or that keep others alive.
var neededByPods = []string{"name", "image", "app", "labels", "metadata", "spec", "selector", "matchLabels", "template",
	"containers", "containerPort", "mountPath", "protocol", "key", "path", "port", "httpGet", "serviceName", "volumes"}

// byKubectl makes a random workload, applied or created, and returns its address.
func byKubectl(t *testing.T, r *rand.Rand, cluster *kubetest.Server, kind string) string {
	t.Helper()
	v, err := body.Parse([]byte(`{"spec": ` + workloads[kind] + `}`))
	if err != nil {
		t.Fatal(err)
	}
	thin(r, v, neededByPods...)
	at := "/apis/apps/v1/namespaces/shop/" + strings.ToLower(kind) + "s/x"
	made := body.Text(body.Merge(v, map[string]any{"apiVersion": "apps/v1", "kind": kind,
		"metadata": map[string]any{"name": "x"}}))
	method, path, media := http.MethodPost, at[:strings.LastIndexByte(at, '/')], "application/json"
	if r.IntN(2) == 0 {
		method, path, media = http.MethodPatch, at, "application/apply-patch+yaml"
	}
	if code, told := cluster.Send(t, method, path+"?fieldManager=kubectl", media, made); code != http.StatusCreated {
		t.Fatalf("%s: %d %s\n%s", kind, code, told, made)
	}
	return at
}

// Whatever kubectl made of a workload, the plan after its import is empty. A change after it is made
// with our mark, also of fields that kubectl has, and then the plan is empty again.
func TestImportOfRandomFromKubernetes(t *testing.T) {
	for seed := range (*imports + 1) / 2 { // reading the specification takes long
		r := rand.New(rand.NewPCG(uint64(seed), 71)) //nolint:gosec // it makes tests
		for _, kind := range sortedKeys(workloads) {
			s, cluster := newKube(t)
			quiet := func(when string) {
				cluster.Forget()
				for range 2 {
					if s.must(); s.did() != "" || len(cluster.Writes()) > 0 {
						t.Errorf("seed %d: %s: %s: %s, %v\n%s", seed, kind, when, s.did(), cluster.Writes(), &s.log)
					}
				}
			}
			at := byKubectl(t, r, cluster, kind)
			all, err := s.importAll(at)
			if err != nil {
				t.Fatalf("seed %d: %s: %v", seed, kind, err)
			}
			base, file := s.Clone(), "/"+all[0].File
			s.Add(file, object{"type": all[0].Entry.Type, "resourceId": all[0].Entry.ResourceID, "body": all[0].Entry.Body})
			s.harmless(seed, base)
			quiet("after the import")
			head := body.Merge(all[0].Entry.Body,
				map[string]any{"metadata": map[string]any{"labels": map[string]any{"seen": "now"}}})
			if head, err = body.Set(head, "/spec/template/spec/containers/0/image", "other:1"); err != nil {
				t.Fatal(err)
			}
			s.Data[file]["body"] = head
			s.must()
			live := cluster.Object(at)
			image, _ := body.Get(live, "/spec/template/spec/containers/0/image")
			label, _ := body.Get(live, "/metadata/labels/seen")
			if mark, _ := body.Get(live,
				"/metadata/annotations/qontract.integration"); s.did() != "update x done" || image != "other:1" || label != "now" ||
				mark != Name {
				t.Errorf("seed %d: %s: after a change: %s, %v %v %v\n%s", seed, kind, s.did(), image, label, mark, &s.log)
			}
			quiet("after a change")
		}
	}
}
