package manifests_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/natives/kube"
)

// realCases are objects of kinds that only a real server has.
func realCases() []kindCase {
	return []kindCase{
		{name: "a Role",
			object: `{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "a"}, "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]}`,
			change: set([]any{}, "rules"), sent: []string{"apply roles"}},
		{name: "a RoleBinding",
			object: `{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "a"},
			"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a"}, "subjects": [{"kind": "ServiceAccount", "name": "x"}]}`,
			change: set("b", "roleRef", "name"), sent: []string{"delete rolebindings Background", "create rolebindings"}},
		{name: "a ClusterRole",
			object: `{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "a"}, "rules": [{"nonResourceURLs": ["/x"], "verbs": ["get"]}]}`,
			change: set([]any{map[string]any{"nonResourceURLs": []any{"/y"}, "verbs": []any{"get"}}}, "rules"),
			sent:   []string{"apply clusterroles"}},
		{name: "a NetworkPolicy",
			object: `{"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "a"}, "spec": {"podSelector": {}, "ingress": [{"from": [{"podSelector": {}}]}]}}`,
			change: set([]any{map[string]any{}}, "spec", "ingress"), sent: []string{"apply networkpolicies"}},
		{name: "an Ingress",
			object: `{"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "a"}, "spec": {"rules": [{"host": "x.example.com", "http": {"paths": [
			{"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "a", "port": {"number": 80}}}}]}}]}}`, change: set("y", "metadata", "labels", "x"), sent: []string{"apply ingresses"}},
		{name: "a HorizontalPodAutoscaler",
			object: `{"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "a"}, "spec": {"minReplicas": 1, "maxReplicas": 3,
			"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}, "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]}}`,
			change: set(int64(4), "spec", "maxReplicas"), sent: []string{"apply horizontalpodautoscalers"}},
		{name: "a PodDisruptionBudget",
			object: `{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "a"}, "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "a"}}}}`,
			change: set("50%", "spec", "maxUnavailable"), sent: []string{"apply poddisruptionbudgets"}},
		{name: "a claim",
			object: `{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "a"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1024Mi"}}}}`,
			change: set("y", "metadata", "labels", "x"), sent: []string{"apply persistentvolumeclaims"}},
	}
}

// The same holds on a real server, with kinds that only it has.
func TestKindsOnRealServer(t *testing.T) {
	s := kubetest.Start(t)
	r := real{s, t}
	r.send(t, http.MethodPost, "/api/v1/namespaces", "application/json", parse(t, `{"metadata": {"name": "n"}}`))
	r.send(t, http.MethodPost, "/api/v1/namespaces/n/serviceaccounts", "application/json",
		parse(t, `{"metadata": {"name": "default"}}`))
	access := kube.Access{Server: s.URL, Token: s.Token("admin"), Insecure: true}
	in := clusterOf(t, r, access)
	for _, c := range append(kindCases(), realCases()...) {
		t.Run(c.name, func(t *testing.T) {
			want := parse(t, c.object)
			of, err := in.Kind(t.Context(), want["apiVersion"].(string), want["kind"].(string))
			if err != nil {
				t.Fatal(err)
			}
			c.check(t, in)
			r.send(t, http.MethodDelete, pathOf(of)+"?gracePeriodSeconds=0", "", nil)
			r.Remove(pathOf(of))
		})
	}
	r.send(t, http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "application/json",
		parse(t, widgets))
	t.Run("custom kinds", func(t *testing.T) {
		waitForWidgets(t, r)
		checkWidgets(t, clusterOf(t, r, access)) // it has not asked yet which kinds there are
	})
}

// widgets defines a kind whose objects have any fields.
const widgets = `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.example.com"},
	"spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
	"versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}}`

// waitForWidgets waits until the server serves the kind.
func waitForWidgets(t *testing.T, r real) {
	t.Helper()
	for range 100 {
		if code, _ := r.Send(t, "admin", http.MethodGet, "/apis/example.com/v1/namespaces/n/widgets", "",
			""); code == http.StatusOK {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the server does not serve widgets")
}
