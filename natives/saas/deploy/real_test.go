package deploy

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/natives/kube"
	"github.com/app-sre/prcheck/natives/saas/promotion"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// realTemplate has objects of kinds that servers handle in their own ways.
const realTemplate = shopTemplate + `- apiVersion: v1
  kind: ConfigMap
  metadata: {name: shop, creationTimestamp: null}
  data: {level: "${LOG_LEVEL}"}
- apiVersion: v1
  kind: Secret
  metadata: {name: shop}
  stringData: {password: "${PASSWORD}"}
- apiVersion: batch/v1
  kind: Job
  metadata: {name: migrate}
  spec:
    template:
      spec: {restartPolicy: Never, containers: [{name: migrate, image: "quay.io/acme/shop:${IMAGE_TAG}"}]}
- apiVersion: example.com/v1
  kind: Widget
  metadata: {name: shop}
  spec: {colours: [{name: red}, {nothing: true}], size: 3}
`

const widgets = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

// addWidgets makes the kind Widget, and waits until it is served.
func addWidgets(t *testing.T, r *kubetest.Real) {
	t.Helper()
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com?fieldManager=admin"
	if code, raw := r.Send(t, "admin", http.MethodPatch, path, "application/apply-patch+yaml",
		widgets); code != http.StatusCreated {
		t.Fatalf("%d %s", code, raw)
	}
	for range 200 {
		if code, _ := r.Send(t, "admin", http.MethodGet, "/apis/example.com/v1/widgets", "", ""); code == http.StatusOK {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the server does not serve widgets")
}

// On a real API server with its controllers a cell is deployed and works, a second run writes
// nothing, a new commit makes the Job anew, and delete removes all.
func TestRealSaas(t *testing.T) {
	r := kubetest.Start(t)
	s := newScene(t)
	s.access = kube.Access{Name: "c-1", Server: r.URL, Token: r.Token("admin"), Insecure: true, Integration: Name}
	s.own = "records: s3://records\nhosts: [github.com]\nwait: 90s"
	for _, n := range []string{"shop-stage", "shop-production"} {
		r.Apply(t, "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: "+n+"\n")
	}
	addWidgets(t, r)
	r.Control(t)
	r.RunPods(t, func(pod map[string]any) kubetest.Fate {
		if spec, _ := pod["spec"].(map[string]any); spec["restartPolicy"] == "Never" {
			return kubetest.Finished // those of Jobs
		}
		return kubetest.Ready
	})
	s.push("/openshift/template.yml", realTemplate)
	s.Set(saastest.File, []any{"Deployment", "Service", "ConfigMap", "Secret", "Job.batch", "Widget.example.com", "Route"},
		"managedResourceTypes")
	s.Set(saastest.File, []any{map[string]any{"resource": "Secret", "resourceNames": []any{"shop"}}},
		"managedResourceNames")
	s.Target(saastest.File, 0, 0)["secretParameters"] = []any{map[string]any{"name": "PASSWORD",
		"secret": map[string]any{"path": "app/shop/password", "field": "x"}}}
	count := func(plural string) int {
		code, raw := r.Send(t, "admin", http.MethodGet, plural, "", "")
		if code != http.StatusOK {
			t.Fatalf("%s: %d %s", plural, code, raw)
		}
		return strings.Count(string(raw), `"qontract.caller_name":"shop"`)
	}
	lists := []string{"/apis/apps/v1/namespaces/shop-stage/deployments", "/api/v1/namespaces/shop-stage/services",
		"/api/v1/namespaces/shop-stage/configmaps",
		"/api/v1/namespaces/shop-stage/secrets", "/apis/batch/v1/namespaces/shop-stage/jobs",
		"/apis/example.com/v1/namespaces/shop-stage/widgets"}
	for _, step := range []struct {
		name string
		do   func()
		want int // objects of each kind
	}{
		{"at first", func() {}, 1},
		{"again", func() {}, 1},
		{"another commit", func() { s.push("/other.yml", "x") }, 1},
		{"delete", func() { s.Target(saastest.File, 0, 0)["delete"] = true }, 0},
	} {
		step.do()
		versions := func() string {
			var out strings.Builder
			for _, list := range lists {
				_, raw := r.Send(t, "admin", http.MethodGet, list, "", "")
				for part := range strings.SplitSeq(string(raw), `"time":"`) { // when a manager wrote
					out.WriteString(part[:min(20, len(part))] + " ")
				}
			}
			return out.String()
		}
		before := versions()
		_, err := s.run(t, "shop/stage")
		if s.fails(err) {
			t.Fatalf("%s: %v\n%q\n%s", step.name, err, s.said, s.log.String())
		}
		for _, list := range lists {
			if got := count(list); got != step.want {
				t.Errorf("%s: %d objects of %s, want %d", step.name, got, list, step.want)
			}
		}
		if step.name == "again" && versions() != before {
			t.Errorf("the second run wrote:\n%s\n%s", before, versions())
		}
		if strings.Contains(s.log.String(), "value-of-app/shop/password") {
			t.Errorf("%s: the secret is shown", step.name)
		}
	}
	records := slices.DeleteFunc(slices.Collect(maps.Keys(s.bucket.objects)), func(key string) bool {
		return !strings.HasPrefix(key, promotion.Root)
	})
	if len(records) != 2 {
		t.Errorf("the records of two commits are %q", records)
	}
}
