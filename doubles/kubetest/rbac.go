package kubetest

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

var (
	kindLine  = regexp.MustCompile(`(?m)^kind: (\S+)$`)
	nameLines = regexp.MustCompile(`(?m)^metadata:\n  name: (\S+)$(?:\n  namespace: (\S+)$)?`)
)

// Apply applies the documents of a YAML file as "admin", as kubectl apply does. It knows
// namespaces, service accounts, cluster roles and their bindings, in block style.
func (r *Real) Apply(t testing.TB, yaml string) {
	t.Helper()
	for doc := range strings.SplitSeq(yaml, "\n---\n") {
		kind, names := kindLine.FindStringSubmatch(doc), nameLines.FindStringSubmatch(doc)
		if kind == nil || names == nil {
			t.Fatalf("a document without kind or name:\n%s", doc)
		}
		path := map[string]string{
			"Namespace": "/api/v1/namespaces/", "ServiceAccount": "/api/v1/namespaces/" + names[2] + "/serviceaccounts/",
			"ClusterRole":        "/apis/rbac.authorization.k8s.io/v1/clusterroles/",
			"ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/",
		}[kind[1]]
		code, raw := r.Send(t, "admin", http.MethodPatch, path+names[1]+"?fieldManager=admin&fieldValidation=Strict",
			"application/apply-patch+yaml", doc)
		if path == "" || code != http.StatusOK && code != http.StatusCreated {
			t.Fatalf("applying %s: %d %s", doc, code, raw)
		}
	}
}

// AccountToken returns a new token of a service account, as kubectl create token does, and the
// name of its user.
func (r *Real) AccountToken(t testing.TB, namespace, name string) (token, user string) {
	t.Helper()
	code, raw := r.Send(t, "admin", http.MethodPost, "/api/v1/namespaces/"+namespace+"/serviceaccounts/"+name+"/token",
		"application/json",
		`{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 7200}}`)
	var answer struct{ Status struct{ Token string } }
	if err := json.Unmarshal(raw, &answer); err != nil || code != http.StatusCreated || answer.Status.Token == "" {
		t.Fatalf("no token of %s: %d %s", name, code, raw)
	}
	return answer.Status.Token, "system:serviceaccount:" + namespace + ":" + name
}
