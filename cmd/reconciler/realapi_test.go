package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// A kind of lamps whose color cannot be changed, as a rule of its schema says.
const lampDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: lamps.lighting.example
spec:
  group: lighting.example
  scope: Namespaced
  names: {kind: Lamp, listKind: LampList, plural: lamps, singular: lamp}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          status: {type: object, properties: {lit: {type: boolean}}}
          spec:
            type: object
            properties:
              color: {type: string, x-kubernetes-validations: [{rule: "self == oldSelf", message: it stays}]}
              height: {type: integer, x-kubernetes-validations: [{rule: "self >= oldSelf"}]}
              arms:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [side]
                items: {type: object, required: [side], properties: {side: {type: string}}}
`

// served returns the types that a real API server says that it has.
func served(t *testing.T, r *kubetest.Real) *resources.Index {
	t.Helper()
	get := func(path string) []byte {
		code, answer := r.Send(t, "admin", http.MethodGet, path, "", "")
		if code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, code, answer)
		}
		return answer
	}
	var list struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	for range 100 { // the server publishes a new kind after a moment
		if err := json.Unmarshal(get("/openapi/v3"), &list); err != nil {
			t.Fatal(err)
		}
		if _, ok := list.Paths["apis/lighting.example/v1"]; ok {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	set := openapi.NewSet(func(name string, _ int64) ([]byte, error) {
		one, ok := list.Paths[strings.TrimSuffix(name, ".json")]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return get(one.ServerRelativeURL), nil
	}, openapi.Limits{})
	var documents []*openapi.Document
	for name := range list.Paths {
		d, err := set.Document(name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, d)
	}
	x := resources.NewIndex(documents)
	if mistakes := x.Mistakes(); mistakes != nil {
		t.Fatal(mistakes)
	}
	return x
}

// What a real API server says of itself is read: all types, no reference that leads nowhere,
// the keys of its lists, and the rules of a kind that was added. What the shipped overrides
// call create-only is refused by the server when it is changed.
func TestRealClusterSpecification(t *testing.T) {
	r := kubetest.Start(t)
	if code, answer := r.Send(t, "admin", http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
		"application/yaml", lampDefinition); code != http.StatusCreated {
		t.Fatalf("%d %s", code, answer)
	}
	x := served(t, r)
	shipped, err := classes.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	start, properties := time.Now(), 0
	for _, one := range x.Types() {
		c, err := classes.New(one, shipped)
		if err != nil {
			t.Fatal(err)
		}
		all, isCut, err := c.All()
		if err != nil || isCut {
			t.Errorf("%s: %v, cut: %t", one.Name, err, isCut)
		}
		properties += len(all)
	}
	t.Logf("%d types, %d properties in %v", len(x.Types()), properties, time.Since(start).Round(time.Millisecond))
	for _, test := range []struct{ text, want string }{
		{"v1/configmaps.data", "mutable"},
		{"v1/services.spec.ports", "mutable map[port protocol]"},
		{"apps/v1/deployments.spec.selector", "createOnly override"},
		{"apps/v1/deployments.spec.template.spec.containers", "mutable map[name]"},
		{"apps/v1/deployments.status", "readOnly family"},
		{"batch/v1/jobs.spec.template.spec.containers", "createOnly override map[name]"},
		{"rbac.authorization.k8s.io/v1/roles.rules", "mutable atomic[]"},
		{"lighting.example/v1/lamps.spec.color", "createOnly declared"},
		{"lighting.example/v1/lamps.spec.height", "mutable"},
		{"lighting.example/v1/lamps.spec.arms", "mutable map[side]"},
	} {
		types, path, err := x.Split(test.text)
		if err != nil {
			t.Fatal(err)
		}
		c, err := classes.New(types[0], shipped)
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.Explain(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := summary(p); got != test.want {
			t.Errorf("%s: got %q, want %q", test.text, got, test.want)
		}
	}
	checkRefused(t, r, x, shipped)
}

func summary(p *classes.Property) string {
	out := p.Class()
	for _, g := range []*classes.Ground{p.ReadOnly, p.CreateOnly} {
		if g != nil {
			out += " " + string(g.Source)
		}
	}
	if p.List != nil {
		out += " " + fmt.Sprint(p.List.Kind, p.List.Keys)
	}
	return out
}

// checkRefused changes properties that overrides call create-only, and looks whether the server
// refuses. What overrides call write-only must not be answered. Each of these overrides must be
// tried.
func checkRefused(t *testing.T, r *kubetest.Real, x *resources.Index, shipped *classes.Overrides) {
	t.Helper()
	const pod = `"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"POLICY","containers":[{"name":"c","image":"i"}]}`
	always, never := strings.ReplaceAll(pod, "POLICY", "Always"), strings.ReplaceAll(pod, "POLICY", "Never")
	const role = `"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"}`
	selected := `{"selector":{"matchLabels":{"a":"b"}},"template":{` + always + `}`
	objects := map[string]string{
		"apps/v1/deployments":                              `"spec":` + selected + `}`,
		"apps/v1/daemonsets":                               `"spec":` + selected + `}`,
		"apps/v1/replicasets":                              `"spec":` + selected + `}`,
		"apps/v1/statefulsets":                             `"spec":` + selected + `,"serviceName":"s"}`,
		"apps/v1/controllerrevisions":                      `"data":{"a":1},"revision":1`,
		"batch/v1/jobs":                                    `"spec":{"template":{` + never + `}}`,
		"discovery.k8s.io/v1/endpointslices":               `"addressType":"IPv4","endpoints":[]`,
		"v1/secrets":                                       `"stringData":{"a":"b"}`,
		"v1/services":                                      `"spec":{"ports":[{"port":80}]}`,
		"rbac.authorization.k8s.io/v1/rolebindings":        role,
		"rbac.authorization.k8s.io/v1/clusterrolebindings": role,
	}
	changes := map[string]string{
		"type": `{"type":"example.com/other"}`, "roleRef": strings.Replace(`{`+role+`}`, `"view"`, `"edit"`, 1),
		"spec.clusterIP": `{"spec":{"clusterIP":"10.0.0.77"}}`, "spec.clusterIPs": `{"spec":{"clusterIPs":["10.0.0.77"]}}`,
		"spec.selector":            `{"spec":{"selector":{"matchLabels":{"c":"d"}}}}`,
		"spec.serviceName":         `{"spec":{"serviceName":"t"}}`,
		"spec.podManagementPolicy": `{"spec":{"podManagementPolicy":"Parallel"}}`, "data": `{"data":{"a":2}}`,
		"addressType":               `{"addressType":"IPv6"}`,
		"spec.volumeClaimTemplates": `{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"v"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1"}}}}]}}`,
		"spec.template":             `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"j"}]}}}}`,
		"spec.completionMode":       `{"spec":{"completionMode":"Indexed","completions":1}}`,
	}
	for name, fields := range objects {
		types, err := x.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		path := strings.NewReplacer("{namespace}", "default", "/{name}", "").Replace(types[0].Path)
		if code, answer := r.Send(t, "admin", http.MethodPost, path, "application/json",
			`{"metadata":{"name":"x"},`+fields+`}`); code != http.StatusCreated {
			t.Fatalf("%s: %d %s", name, code, answer)
		}
		_, is := r.Send(t, "admin", http.MethodGet, path+"/x", "", "")
		for _, e := range shipped.Entries {
			switch {
			case e.Type != name:
			case e.Class == "writeOnly":
				if strings.Contains(fields, `"`+e.Path+`"`) == strings.Contains(string(is), `"`+e.Path+`"`) {
					t.Errorf("%s %s is not tried, or the server answers it: %s", name, e.Path, is)
				}
			case e.Class == "createOnly":
				change, ok := changes[e.Path]
				if !ok {
					t.Errorf("%s %s: the override is not tried", name, e.Path)
					continue
				}
				code, answer := r.Send(t, "admin", http.MethodPatch, path+"/x", "application/merge-patch+json", change)
				if code != http.StatusUnprocessableEntity {
					t.Errorf("%s %s: the server takes the change: %d %s", name, e.Path, code, answer)
				}
			}
		}
	}
	names := []string{}
	for _, e := range shipped.Entries {
		if _, ok := objects[e.Type]; !ok && !strings.HasPrefix(e.Type, "Microsoft.") && !slices.Contains(names, e.Type) {
			names = append(names, e.Type)
		}
	}
	if len(names) > 0 {
		t.Errorf("the overrides of %q are not tried", names)
	}
}
