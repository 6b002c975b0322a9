package namespaces

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/kube"
)

// A cluster is an API server in memory, with the client that the product has.
type testCluster struct {
	t testing.TB
	*kubetest.Server
}

func newCluster(t testing.TB) testCluster { return testCluster{t, kubetest.New(t)} }

// access returns how the cluster is reached, whatever address the data say.
func (c testCluster) access(integration.ClusterRef) kube.Access {
	return kube.Access{Name: "c1", Server: c.URL, Token: c.Token, Integration: "openshift-namespaces"}
}

const folder = "/api/v1/namespaces/"

// put lets another program make a namespace, or set its labels and annotations.
func (c testCluster) put(name string, labels, annotations map[string]string) {
	texts := func(of map[string]string) map[string]any {
		out := map[string]any{}
		for k, v := range of {
			out[k] = v
		}
		return out
	}
	c.Edit(c.t, "kubectl", folder+name, func(o map[string]any) {
		m := o["metadata"].(map[string]any)
		m["labels"], m["annotations"] = texts(labels), texts(annotations)
	})
}

// metadata returns what the cluster has of a namespace.
func (c testCluster) metadata(name string) metadata {
	reader, err := kube.Open(c.access(integration.ClusterRef{}))
	if err != nil {
		c.t.Fatal(err)
	}
	raw, err := reader.Get(c.t.Context(), refOf(target{}.key(name)))
	if err != nil {
		c.t.Fatal(err)
	}
	thing, err := target{}.thing(raw, "openshift-namespaces")
	if err != nil {
		c.t.Fatal(err)
	}
	return thing.Body.(metadata)
}

// writes returns the requests that write, sorted, such as "create a".
func (c testCluster) writes() []string {
	var out []string
	for _, r := range c.Writes() {
		verb := r.Verb
		switch {
		case verb == "patch" && r.Code == 201:
			verb = "create"
		case verb == "patch":
			verb = "apply"
		}
		out = append(out, verb+" "+path.Base(r.Path))
	}
	slices.Sort(out)
	return out
}

// names returns the names of all namespaces, sorted.
func (c testCluster) names() []string {
	var out []string
	for _, p := range c.Paths() {
		out = append(out, strings.TrimPrefix(p, folder))
	}
	return out
}
