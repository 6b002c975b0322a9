package family

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// kubernetesTypes returns the types of a small specification.
func kubernetesTypes(t *testing.T) *resources.Index {
	t.Helper()
	var paths []string
	for _, path := range []string{"/api/v1/namespaces/{name}", "/api/v1/namespaces/{namespace}/configmaps/{name}",
		"/apis/apps/v1/namespaces/{namespace}/deployments/{name}",
		"/apis/rbac.authorization.k8s.io/v1/clusterroles/{name}"} {
		paths = append(paths, fmt.Sprintf(`%q:{"get":{},"put":{}},%q:{"post":{}}`, path,
			path[:strings.LastIndexByte(path, '/')]))
	}
	set := openapi.NewSet(func(name string, _ int64) ([]byte, error) {
		if name != "k.json" {
			return nil, fs.ErrNotExist
		}
		return []byte(`{"openapi":"3.0.0","info":{"title":"Kubernetes"},"paths":{` + strings.Join(paths, ",") + `}}`), nil
	}, openapi.Limits{})
	d, err := set.Document("k.json")
	if err != nil {
		t.Fatal(err)
	}
	return resources.NewIndex([]*openapi.Document{d})
}

func TestKubernetesAddresses(t *testing.T) {
	index := kubernetesTypes(t)
	const inNs, cm = "/api/v1/namespaces/n", "v1/configmaps"
	const role = "rbac.authorization.k8s.io/v1/clusterroles"
	for _, c := range []struct {
		name, of  string
		reference Reference
		want      string // path, parent, root, collection
		wrong     string
	}{
		{"in a namespace", cm, Reference{Parent: inNs, Name: "c"}, inNs + "/configmaps/c " + inNs + " " + inNs + " " + inNs +
			"/configmaps", ""},
		{"of another group", "apps/v1/deployments", Reference{Parent: inNs, Name: "d.x"},
			"/apis/apps/v1/namespaces/n/deployments/d.x " + inNs + " " + inNs + " /apis/apps/v1/namespaces/n/deployments", ""},
		{"by its id", "apps/v1/deployments", Reference{ID: "/apis/apps/v1/namespaces/n/deployments/d"},
			"/apis/apps/v1/namespaces/n/deployments/d " + inNs + " " + inNs + " /apis/apps/v1/namespaces/n/deployments", ""},
		{"a namespace", "v1/namespaces", Reference{Name: "n"}, inNs + "  " + inNs + " /api/v1/namespaces", ""},
		{"in no namespace", role, Reference{Name: "system:node"},
			"/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node  /cluster /apis/rbac.authorization.k8s.io/v1/clusterroles", ""},
		{"without a namespace", cm, Reference{Name: "c"}, "", "is no address of v1/configmaps"},
		{"case counts", cm, Reference{Parent: "/api/v1/namespaces/N", Name: "C"},
			"/api/v1/namespaces/N/configmaps/C /api/v1/namespaces/N /api/v1/namespaces/N /api/v1/namespaces/N/configmaps", ""},
		{"in what is no namespace", cm, Reference{Parent: "/api/v1/nodes/n", Name: "c"}, "",
			"is no address of v1/configmaps"},
		{"a role in a namespace", role, Reference{Parent: inNs, Name: "r"}, "", "is no address of"},
		{"another type", cm, Reference{ID: "/apis/apps/v1/namespaces/n/deployments/d"}, "", "is no address of v1/configmaps"},
		{"a step up", cm, Reference{Parent: inNs, Name: ".."}, "", "a step up"},
		{"a slash", cm, Reference{Parent: inNs, Name: "a/b"}, "", "a character that no name can have"},
		{"an escape", cm, Reference{Parent: "/api/v1/namespaces/n%2fx", Name: "a"}, "", "an escaped character"},
	} {
		types, err := index.Find(c.of)
		if err != nil {
			t.Fatal(err)
		}
		a, err := Kubernetes.Locate(types[0], c.reference)
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: got %v, want %s", c.name, err, c.wrong)
			}
			continue
		}
		if got := strings.Join([]string{a.URI(), a.Parent, a.Root, a.Collection}, " "); err != nil || got != c.want {
			t.Errorf("%s: got %s, %v, want %s", c.name, got, err, c.want)
		}
	}
}
