package realkube

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// A cluster is a real API server with the types that it describes itself.
type cluster struct {
	*kubetest.Real
	index     *resources.Index
	documents map[string][]byte // what the server serves, by file name
}

// start starts a server that has the custom resource and some namespaces.
func start(t *testing.T, namespaces ...string) *cluster {
	t.Helper()
	c := &cluster{Real: kubetest.Start(t, "us", "them")}
	c.must(t, http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "application/json", definition)
	for _, user := range []string{"us", "them"} {
		c.must(t, http.MethodPost, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", "application/json", fmt.Sprintf(
			`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":%q},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"},
			"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":%q}]}`, "test-"+user, user))
	}
	for _, name := range namespaces {
		c.must(t, http.MethodPost, "/api/v1/namespaces", "application/json", fmt.Sprintf(`{"metadata":{"name":%q}}`, name))
	}
	c.index = c.specifications(t)
	return c
}

func (c *cluster) must(t *testing.T, method, path, media, body string) []byte {
	t.Helper()
	code, raw := c.Send(t, "admin", method, path, media, body)
	if code/100 != 2 {
		t.Fatalf("%s %s: %d %s", method, path, code, raw)
	}
	return raw
}

// specifications reads the documents that the server serves, one for each group and version.
func (c *cluster) specifications(t *testing.T) *resources.Index {
	t.Helper()
	documents := map[string][]byte{}
	c.documents = documents
	for _, k := range append(kinds, kind{typeName: "v1/namespaces"}) {
		group := k.apiVersion()
		path := "apis/" + group
		if !strings.Contains(group, "/") {
			path = "api/" + group
		}
		documents[strings.ReplaceAll(path, "/", "_")+".json"] = c.document(t, path)
	}
	set := openapi.NewSet(func(name string, _ int64) ([]byte, error) {
		if raw, ok := documents[name]; ok {
			return raw, nil
		}
		return nil, fs.ErrNotExist
	}, openapi.Limits{})
	var all []*openapi.Document
	for name := range documents {
		d, err := set.Document(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	index := resources.NewIndex(all)
	for _, err := range index.Mistakes() {
		t.Error(err)
	}
	return index
}

// document waits until the server describes a group.
func (c *cluster) document(t *testing.T, path string) []byte {
	t.Helper()
	for range 200 {
		code, raw := c.Send(t, "admin", http.MethodGet, "/openapi/v3/"+path, "", "")
		if code == http.StatusOK && strings.Contains(string(raw), `"paths"`) {
			return raw
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("the server does not describe %s", path)
	return nil
}

// typeOf returns the type of a kind.
func (c *cluster) typeOf(t *testing.T, name string) *resources.Type {
	t.Helper()
	types, err := c.index.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return types[0]
}

// classifier returns the classes of a type by the served specification and the overrides.
func (c *cluster) classifier(t *testing.T, name string, more ...*classes.Overrides) *classes.Classifier {
	t.Helper()
	shipped, err := classes.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	out, err := classes.New(c.typeOf(t, name), append([]*classes.Overrides{shipped}, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func encode(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}
