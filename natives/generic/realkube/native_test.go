package realkube

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
)

type content = map[string]any

// A world is data about objects of a real cluster, and a state.
type world struct {
	*cloudtest.World
	*cluster
	t        *testing.T
	state    state.Store
	mu       sync.Mutex
	log      bytes.Buffer
	findings []integration.Remark
	deeds    []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{cluster: start(t, "shop"), t: t}
	w.World = cloudtest.New(w.URL)
	w.Resources = map[string]string{}
	var names []any
	for name, raw := range w.documents {
		w.Resources["/specs/"+name] = string(raw)
		names = append(names, "/specs/"+name)
	}
	slices.SortFunc(names, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	w.Data[cloudtest.API]["family"], w.Data[cloudtest.API]["specifications"] = "kubernetes", names
	w.forget()
	return w
}

func (w *world) forget() {
	var err error
	if w.state, err = state.Open(w.t.TempDir()); err != nil {
		w.t.Fatal(err)
	}
}

// object adds an object in the namespace to the data.
func (w *world) object(typeName, name string, of content) {
	w.Add("/cloud/"+name+".yml", content{"type": typeName, "name": name, "parent": "/api/v1/namespaces/shop", "body": of})
}

func (w *world) environment() integration.Environment {
	w.t.Helper()
	rules, err := settings.Read("prcheck.yaml",
		[]byte("version: 1\nintegrations:\n  generic:\n    settings: {hosts: [127.0.0.1]}\n"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.log.Reset()
	w.findings, w.deeds = nil, nil
	return integration.Environment{Integration: "generic", Settings: rules.For("generic"), Query: w.Query(w.t),
		State: state.ReadOnly(w.state), Log: &w.log,
		Now: time.Now, Endpoint: w.endpoint(), Workers: 2, Report: func(f integration.Remark) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.findings = append(w.findings, f)
		}}
}

func (w *world) endpoint() func(context.Context, integration.EndpointRef) (http.RoundTripper, error) {
	transport := w.client(w.t).Transport
	return func(context.Context, integration.EndpointRef) (http.RoundTripper, error) { return transport, nil }
}

func (w *world) actors() integration.Actors {
	return integration.Actors{State: w.state, Endpoint: w.endpoint(), Did: func(d integration.Deed) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.deeds = append(w.deeds, fmt.Sprintf("%s %s %s", d.Action, d.Key[strings.LastIndexByte(d.Key, '/')+1:], d.Status))
	}}
}

// run runs the native, and checks what it did and which findings it has.
func (w *world) run(what, want string) {
	w.t.Helper()
	if err := generic.New().Run(w.t.Context(), w.environment(), w.actors()); err != nil {
		w.t.Errorf("%s: %v\n%s", what, err, &w.log)
	}
	for _, f := range w.findings {
		if f.Severity == plan.SeverityError && f.Effect == nil {
			w.t.Errorf("%s: %s %s %s", what, f.Code, f.Pointer, f.Message)
		}
	}
	slices.Sort(w.deeds)
	if got := strings.Join(w.deeds, ", "); got != want {
		w.t.Errorf("%s: did %q, want %q\n%s", what, got, want, &w.log)
	}
}

// at returns the value at the names in a live object.
func (w *world) at(k kind, name string, names ...string) any {
	v := any(w.live(w.t, k, "shop", name))
	for _, n := range names {
		members, _ := v.(map[string]any)
		v = members[n]
	}
	return v
}

func (w *world) edit(k kind, name, content string) {
	w.t.Helper()
	if code := w.do(w.t, k, "shop", name,
		edit{manager: "bob", media: merging, body: value(content).(map[string]any)}); code != http.StatusOK {
		w.t.Fatalf("an edit of %s: %d", name, code)
	}
}

func kindOf(name string) kind {
	return kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })]
}

// The whole native at a real cluster that describes itself.
func TestNative(t *testing.T) {
	w := newWorld(t)
	maps, deployments, databases := kindOf("ConfigMap"), kindOf("Deployment"), kindOf("Database")
	w.object("v1/configmaps", "conf", content{"data": content{"a": "1", "b": "2"}})
	w.object("apps/v1/deployments", "web",
		value(`{"spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
		"spec":{"containers":[{"name":"web","image":"i:1","resources":{"limits":{"cpu":"0.5"}},"env":[{"name":"A","value":""}]}]}}}}`).(map[string]any))
	w.object("example.com/v1/databases", "db", content{"spec": content{"engine": "pg", "zones": []any{"a"}}})
	w.run("the first run", "create conf done, create db done, create web done")
	w.run("nothing changed", "")

	w.edit(maps, "conf", `{"data":{"a":"drifted","foreign":"x"}}`)
	w.run("drift", "update conf done")
	if a, x := w.at(maps, "conf", "data", "a"), w.at(maps, "conf", "data", "foreign"); a != "1" || x != "x" {
		t.Errorf("after drift: %v %v", a, x)
	}
	w.run("after drift", "")

	w.edit(deployments, "web", `{"spec":{"minReadySeconds":7}}`)
	spec := w.Data["/cloud/web.yml"]["body"].(map[string]any)["spec"].(map[string]any)
	spec["minReadySeconds"], spec["revisionHistoryLimit"] = 3, 4
	w.run("a contested field", "update web done")
	if m, r := encode(w.at(deployments, "web", "spec", "minReadySeconds")),
		encode(w.at(deployments, "web", "spec", "revisionHistoryLimit")); m != "7" || r != "4" {
		t.Errorf("a contested field: %s %s", m, r)
	}
	if all := fmt.Sprint(w.findings) + w.log.String(); !strings.Contains(all, "KEPT_CONTESTED") ||
		!strings.Contains(all, `bob`) {
		t.Errorf("nothing tells of the contested field: %s", all)
	}
	w.run("after the contested field", "")

	w.Data["/cloud/conf.yml"]["body"] = content{"data": content{"a": "1", "foreign": nil}}
	w.run("what others set is cleared", "update conf done")
	if data := w.at(maps, "conf", "data"); encode(data) != `{"a":"1"}` {
		t.Errorf("after clearing: %s", encode(data))
	}
	w.run("after clearing", "")

	w.Data["/cloud/db.yml"]["delete"] = true
	w.run("a deletion", "delete db done")
	if w.at(databases, "db", "kind") != nil {
		t.Error("it is still there")
	}
}

// What kubectl made is imported, and then the plan is empty. The next change sets the mark.
func TestImport(t *testing.T) {
	w := newWorld(t)
	deployments := kindOf("Deployment")
	made, told := w.kubectl(t, deployments,
		[]any{deployments.object("shop", "web",
			value(`{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"canary"}},
		"spec":{"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web","image":"i:1"}]}}}}`).(map[string]any))})
	if len(made) != 1 {
		t.Fatal(told)
	}
	w.must(t, http.MethodPost, "/api/v1/namespaces/shop/secrets", "application/json",
		`{"metadata":{"name":"s"},"stringData":{"password":"canary"}}`)
	before := w.live(t, deployments, "shop", "web")
	for _, id := range []string{"/apis/apps/v1/namespaces/shop/deployments/web", "/api/v1/namespaces/shop/secrets/s"} {
		n := generic.Importer(generic.ImportOptions{ID: id, Folder: "cloud", Save: func(all []generic.Imported) error {
			for _, one := range all {
				if strings.Contains(string(one.Text), "canary") || strings.Contains(string(one.Text), "Y2FuYXJ5") ||
					strings.Contains(string(one.Text), "managedFields") {
					t.Errorf("the data show too much:\n%s", one.Text)
				}
				w.Add("/"+one.File, content{"type": one.Entry.Type, "resourceId": one.Entry.ResourceID, "body": one.Entry.Body})
			}
			return nil
		}})
		if err := n.Run(t.Context(), w.environment(), w.actors()); err != nil {
			t.Fatal(err)
		}
	}
	w.run("after the import", "")
	after := w.live(t, deployments, "shop", "web")
	if d := differences("", before, after); len(d) > 0 {
		t.Errorf("the first run changed %s", d)
	}
}
