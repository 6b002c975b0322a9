package kube_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/integration"

	"github.com/app-sre/prcheck/natives/kube"
	"github.com/app-sre/prcheck/natives/kube/writer"
)

// policyThatRefuses are a policy that refuses config maps with the name "refused", and its binding.
const policyThatRefuses = `{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p"}, "spec": {
	"failurePolicy": "Fail", "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]},
	"validations": [{"expression": "object.metadata.name != 'refused'", "reason": "Forbidden"}]}}`

const bindingOfPolicy = `{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "b"},
	"spec": {"policyName": "p", "validationActions": ["Deny"]}}`

// A real server forbids for several reasons, and what we say about each is right: only a role that
// is missing is answered with roles.
func TestForbiddenByRealServer(t *testing.T) {
	r := kubetest.Start(t, "nobody")
	must := func(method, path, body string) {
		t.Helper()
		kind := "application/json"
		if method == http.MethodPatch {
			kind = "application/merge-patch+json"
		}
		if code, raw := r.Send(t, "admin", method, path, kind, body); code >= 300 {
			t.Fatalf("%s: %d %s", path, code, raw)
		}
	}
	for _, name := range []string{"full", "ends", "strict"} {
		must(http.MethodPost, "/api/v1/namespaces",
			fmt.Sprintf(`{"metadata": {"name": %q, "labels": {"pod-security.kubernetes.io/enforce": %q}}}`,
				name, map[bool]string{true: "restricted", false: "privileged"}[name == "strict"]))
	}
	must(http.MethodPost, "/api/v1/namespaces/full/resourcequotas",
		`{"metadata": {"name": "q"}, "spec": {"hard": {"count/configmaps": "0"}}}`)
	must(http.MethodPatch, "/api/v1/namespaces/full/resourcequotas/q/status",
		`{"status": {"hard": {"count/configmaps": "0"}, "used": {"count/configmaps": "0"}}}`)
	must(http.MethodPost, "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", policyThatRefuses)
	must(http.MethodPost, "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings", bindingOfPolicy)
	must(http.MethodDelete, "/api/v1/namespaces/ends", "")
	create := func(user, namespace, name string) error {
		w, err := writer.Open(kube.Access{Name: "west", Server: r.URL, Token: r.Token(user), Integration: "namespaces",
			Insecure: true})
		if err != nil {
			t.Fatal(err)
		}
		ref, object := configMap(namespace, name)
		if namespace == "strict" {
			ref.Plural = "pods"
			object = json.RawMessage(fmt.Sprintf(`{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": %q, "namespace": "strict"}, "spec": {"hostNetwork": true, "containers": [{"name": "c", "image": "i"}]}}`, name))
		}
		_, err = w.Create(t.Context(), ref, object)
		return err
	}
	const role, policy = "the role of the account must allow create and patch of configmaps", "a policy of the cluster refuses the object"
	for _, c := range []struct {
		user, namespace, name, text string
		class                       integration.FailureClass
	}{
		{"nobody", "full", "a", role, integration.FailureOfConfig},
		{"admin", "full", "a", "the quota of the namespace does not suffice", integration.FailureOfConfig},
		{"admin", "ends", "a", "the namespace is being deleted", integration.FailureTransient},
		{"admin", "strict", "a", policy, integration.FailureOfConfig},
		{"admin", "default", "refused", policy, integration.FailureOfConfig},
	} {
		var err error
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
			if err = create(c.user, c.namespace, c.name); err != nil && strings.Contains(err.Error(), c.text) {
				break // a server hears of policies and quotas after a moment
			}
			_, _ = r.Send(t, "admin", http.MethodDelete, "/api/v1/namespaces/"+c.namespace+"/configmaps/"+c.name, "", "")
		}
		t.Log(err)
		checkTrouble(t, err, c.class, nil, c.text)
		if err != nil && c.text != role && strings.Contains(err.Error(), "role of the account") {
			t.Errorf("it speaks of roles: %v", err)
		}
	}
}
