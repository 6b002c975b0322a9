package manifests_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/kube"
	"github.com/app-sre/prcheck/natives/kube/writer"
	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/reconcile"
)

var mark = reconcile.Mark{Integration: "integrations-manager", Caller: "up"}

// errKilled ends a run.
var errKilled = errors.New("killed")

// A server is an API server, with what others do to its objects.
type server interface {
	Edit(t testing.TB, manager, path string, change func(object map[string]any))
	Object(path string) map[string]any
	Remove(path string)
	// Post makes an object, as a program that is no client of ours.
	Post(t testing.TB, manager, path string, object []byte)
	// Untrack forgets who owns the fields of an object.
	Untrack(t testing.TB, path string)
	// Scale sets a number of pods, as kubectl scale does.
	Scale(t testing.TB, program, path string, pods int)
	// Kubectl sends the patch of a command of kubectl.
	Kubectl(t testing.TB, command, path, patch string)
}

// A memory is the server in memory.
type memory struct{ *kubetest.Server }

func (m memory) Post(t testing.TB, manager, path string, object []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.URL+path+"?fieldManager="+manager,
		bytes.NewReader(object))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+m.Token)
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode != http.StatusCreated {
		t.Fatalf("making an object: %v, %+v", err, res)
	}
	_ = res.Body.Close()
}

func (m memory) Untrack(t testing.TB, path string) {
	t.Helper()
	body := m.Object(path)
	m.Remove(path)
	m.Edit(t, "", path, func(o map[string]any) { o["spec"] = body["spec"] }) // it tracks no maker
}

// A cluster is an API server, with what a run does to it.
type cluster struct {
	server
	integration.ClusterWriter
	opts manifests.Options
	left int  // how many more requests that write are sent; then a run is killed
	late bool // the request at which a run is killed is done
	sent []string
}

// newServer returns an empty server and what reaches it. A test of a real server replaces it.
var newServer = func(t testing.TB) (server, kube.Access) {
	t.Helper()
	s := kubetest.New(t)
	s.Edit(t, "test", "/api/v1/namespaces/n", func(map[string]any) {})
	return memory{s}, kube.Access{Name: "c1", Server: s.URL, Token: s.Token, Integration: "integrations-manager"}
}

func newCluster(t testing.TB) *cluster {
	t.Helper()
	s, access := newServer(t)
	w, err := writer.Open(access)
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{server: s, ClusterWriter: w, opts: options, left: 1000}
}

// send sends a request unless the run is killed.
func (c *cluster) send(word string, request func() (json.RawMessage, error)) (json.RawMessage, error) {
	c.left--
	if c.left < 0 && !(c.left == -1 && c.late) {
		return nil, errKilled
	}
	raw, err := request()
	if err == nil {
		c.sent = append(c.sent, word)
	}
	if c.left < 0 {
		return nil, errKilled
	}
	return raw, err
}

func (c *cluster) Create(ctx context.Context, ref integration.ObjectRef, o json.RawMessage) (json.RawMessage, error) {
	return c.send("create "+ref.Plural, func() (json.RawMessage, error) { return c.ClusterWriter.Create(ctx, ref, o) })
}

func (c *cluster) Apply(ctx context.Context, ref integration.ObjectRef, o json.RawMessage) (json.RawMessage, error) {
	return c.send("apply "+ref.Plural, func() (json.RawMessage, error) { return c.ClusterWriter.Apply(ctx, ref, o) })
}

func (c *cluster) Merge(ctx context.Context, ref integration.ObjectRef, patch json.RawMessage,
	was integration.Preconditions) (json.RawMessage, error) {
	return c.send("merge "+ref.Plural, func() (json.RawMessage, error) {
		return c.ClusterWriter.Merge(ctx, ref, patch, was)
	})
}

func (c *cluster) TakeFields(ctx context.Context, ref integration.ObjectRef, o json.RawMessage,
	managers []string) (json.RawMessage, error) {
	return c.send("take "+ref.Plural, func() (json.RawMessage, error) {
		return c.ClusterWriter.TakeFields(ctx, ref, o, managers)
	})
}

// Delete deletes an object. What waits for its dependents is gone at once, with its pods unless
// they are orphans.
func (c *cluster) Delete(ctx context.Context, ref integration.ObjectRef, was integration.Preconditions,
	p integration.Propagation) error {
	_, err := c.send("delete "+ref.Plural+" "+string(p), func() (json.RawMessage, error) {
		err := c.ClusterWriter.Delete(ctx, ref, was, p)
		if err == nil {
			c.Remove("/apis/apps/v1/namespaces/n/" + ref.Plural + "/" + ref.Name)
		}
		return nil, err
	})
	return err
}

func (c *cluster) doer() manifests.Applier {
	return manifests.Applier{Writer: c, Options: c.opts, Limit: time.Second, Pause: time.Millisecond}
}

// run does what the difference asks for.
func (c *cluster) run(t testing.TB, want manifests.Object) error {
	t.Helper()
	ctx, d := t.Context(), c.doer()
	is, err := d.Read(ctx, kindOf(want), "n", "a")
	if err != nil {
		return err
	}
	if is == nil {
		return d.Create(ctx, kindOf(want), "n", want, mark)
	}
	diff, err := manifests.Diff(want, is, c.opts)
	switch {
	case err != nil:
		return err
	case diff.Mistake != (reconcile.Mistake{}):
		return errors.New(diff.Mistake.Message)
	case diff.Replace:
		return d.Replace(ctx, want, is, mark)
	case len(diff.Changes) > 0:
		return d.Update(ctx, want, is, mark)
	}
	return d.Mark(ctx, is, mark)
}

// end returns the object without what differs between runs.
func (c *cluster) end(path string) map[string]any {
	o := c.Object(path)
	if o == nil {
		return nil
	}
	meta := o["metadata"].(map[string]any)
	for _, name := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"} {
		delete(meta, name)
	}
	return o
}

const (
	deploymentPath = "/apis/apps/v1/namespaces/n/deployments/a"
	statefulPath   = "/apis/apps/v1/namespaces/n/statefulsets/a"
	claimPath      = "/api/v1/namespaces/n/persistentvolumeclaims/cache-a-0"
)

// A change is one way from what is there to what a manifest says.
type change struct {
	name string
	kind manifests.Kind
	// before makes what is there. It starts from what an older manifest made, unless it is bare.
	before func(t testing.TB, c *cluster)
	bare   bool
	want   func(want manifests.Object)
	opts   func(o *manifests.Options)
	sent   string // all requests that write
}

func specOf(o map[string]any) map[string]any { return o["spec"].(map[string]any) }

// byKubectl makes a Deployment as kubectl apply does, with a field that no manifest has.
func byKubectl(t testing.TB, c *cluster) {
	t.Helper()
	o := manifest(t, manifests.Deployment)
	specOf(o)["minReadySeconds"] = 5
	setAt(o, []string{"metadata", "annotations"}, map[string]any{"kubectl.kubernetes.io/last-applied-configuration": "{}",
		"qontract.sha256sum": "x"})
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	c.Post(t, "kubectl-client-side-apply", path.Dir(deploymentPath), raw)
}

// untracked makes a Deployment whose fields nobody owns, as old clusters have it.
func untracked(t testing.TB, c *cluster) {
	t.Helper()
	byKubectl(t, c)
	c.Edit(t, "test", deploymentPath, func(o map[string]any) { specOf(o)["replicas"] = int64(3) })
	c.Untrack(t, deploymentPath)
}

func changes() []change {
	recreate := func(o manifests.Object) { specOf(o)["strategy"] = map[string]any{"type": "Recreate"} }
	grow := func(o manifests.Object) {
		specOf(o)["volumeClaimTemplates"].([]any)[0].(map[string]any)["spec"].(map[string]any)["resources"] = map[string]any{
			"requests": map[string]any{"storage": "2Gi"}}
	}
	instance := func(o manifests.Object) {
		for _, at := range [][]string{{"metadata", "labels"}, {"spec", "selector", "matchLabels"},
			{"spec", "template", "metadata", "labels"}} {
			setAt(o, append(at, manifests.InstanceLabel), "a")
		}
	}
	return []change{
		{name: "new", kind: manifests.Deployment, bare: true, before: func(testing.TB, *cluster) {},
			sent: "create deployments"},
		{name: "another image", kind: manifests.Deployment, want: func(o manifests.Object) {
			container(o)["image"] = "quay.io/x:2"
		}, sent: "apply deployments"},
		{name: "a variable less", kind: manifests.Deployment, want: func(o manifests.Object) {
			container(o)["env"] = container(o)["env"].([]any)[:1]
		}, sent: "apply deployments"},
		{name: "made by kubectl", kind: manifests.Deployment, bare: true, before: byKubectl, want: recreate,
			sent: "merge deployments, take deployments, apply deployments"},
		{name: "made by kubectl, keeps its selector", kind: manifests.Deployment, bare: true, before: byKubectl,
			want: instance, sent: "take deployments, apply deployments"},
		{name: "applied by kubectl again", kind: manifests.Deployment, before: func(t testing.TB, c *cluster) {
			c.Edit(t, "kubectl-client-side-apply", deploymentPath, func(o map[string]any) {
				o["metadata"].(map[string]any)["labels"].(map[string]any)["more"] = "x"
			})
		}, sent: "merge deployments, take deployments, apply deployments"},
		{name: "older than field managers", kind: manifests.Deployment, bare: true, before: untracked,
			sent: "apply deployments, take deployments, apply deployments"},
		{name: "scaled by us", kind: manifests.Deployment, sent: "take deployments, apply deployments",
			before: func(t testing.TB, c *cluster) {
				is, err := c.doer().Read(t.Context(), manifests.Deployment, "n", "a")
				if err == nil {
					err = c.doer().Scale(t.Context(), is, 0)
				}
				if err != nil {
					t.Fatal(err)
				}
			}},
		{name: "a field of a manager that is overridden", kind: manifests.Deployment, opts: func(o *manifests.Options) {
			o.Override = []string{"kubectl-edit"}
		},
			before: func(t testing.TB, c *cluster) {
				c.Edit(t, "kubectl-edit", deploymentPath, func(o map[string]any) {
					container(o)["env"].([]any)[0].(map[string]any)["value"] = "9"
					specOf(o)["replicas"] = int64(0)
					o["metadata"].(map[string]any)["labels"].(map[string]any)["note"] = "stays"
				})
			}, sent: "merge deployments, take deployments, apply deployments"},
		{name: "another selector", kind: manifests.Deployment, opts: func(o *manifests.Options) { o.MigrateSelector = true },
			want: instance,
			sent: "delete deployments Foreground, create deployments"},
		{name: "claims grow", kind: manifests.StatefulSet, want: grow, before: func(t testing.TB, c *cluster) {
			c.Edit(t, "controller", claimPath, func(o map[string]any) {
				o["spec"] = map[string]any{"accessModes": []any{"ReadWriteOnce"}, "storageClassName": "gp2", "volumeName": "v",
					"resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}}
				o["status"] = map[string]any{"phase": "Bound"}
			})
		}, sent: "merge persistentvolumeclaims, delete statefulsets Orphan, create statefulsets"},
		{name: "claims grow, and the label of instances is new", kind: manifests.StatefulSet, want: func(o manifests.Object) {
			grow(o)
			instance(o)
		},
			before: func(t testing.TB, c *cluster) {
				c.Edit(t, "controller", "/api/v1/namespaces/n/pods/a-0", func(o map[string]any) {
					o["metadata"].(map[string]any)["labels"] = map[string]any{"app": "a"}
					o["spec"] = podOf(manifest(t, manifests.Deployment))
				})
			}, sent: "delete statefulsets Orphan, create statefulsets"},
		{name: "a service", kind: manifests.Service, want: func(o manifests.Object) {
			specOf(o)["ports"].([]any)[0].(map[string]any)["port"] = 81
		}, sent: "apply services"},
		{name: "a schedule", kind: manifests.CronJob, want: func(o manifests.Object) { specOf(o)["schedule"] = "2 * * * *" },
			sent: "apply cronjobs"},
		{name: "marks are lost", kind: manifests.Deployment, before: func(t testing.TB, c *cluster) {
			c.Edit(t, "kubectl-edit", deploymentPath, func(o map[string]any) {
				delete(o["metadata"].(map[string]any)["annotations"].(map[string]any), "qontract.integration")
			})
		}, sent: "merge deployments, take deployments"},
	}
}

// start returns a cluster as it is before a change, and the manifest.
func (ch change) start(t testing.TB) (*cluster, manifests.Object) {
	t.Helper()
	c, want := newCluster(t), manifest(t, ch.kind)
	if !ch.bare {
		if err := c.run(t, want); err != nil {
			t.Fatal(err)
		}
	}
	if ch.before != nil {
		ch.before(t, c)
	}
	if ch.want != nil {
		ch.want(want)
	}
	if ch.opts != nil {
		ch.opts(&c.opts)
	}
	c.sent = nil
	return c, want
}

func (ch change) path() string {
	return "/apis/apps/v1/namespaces/n/" + ch.kind.Plural + "/a"
}

// Each change sends the requests that it needs, and then none.
func TestChanges(t *testing.T) {
	for _, ch := range changes() {
		t.Run(ch.name, func(t *testing.T) {
			c, want := ch.start(t)
			if err := c.run(t, want); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(c.sent, ", "); got != ch.sent {
				t.Errorf("sent %s, want %s", got, ch.sent)
			}
			c.sent = nil
			if err := c.run(t, want); err != nil || len(c.sent) > 0 {
				t.Errorf("the second run sent %q, %v, want nothing", c.sent, err)
			}
		})
	}
}

// A run that is killed at any request, before or after the server did it, is followed by runs
// that end in the same state.
func TestKilled(t *testing.T) {
	for _, ch := range changes() {
		t.Run(ch.name, func(t *testing.T) {
			c, want := ch.start(t)
			if err := c.run(t, want); err != nil {
				t.Fatal(err)
			}
			end, claim := c.end(ch.path()), c.end(claimPath)
			for at := range c.sent {
				for _, late := range []bool{false, true} {
					c, want := ch.start(t)
					c.left, c.late = at, late
					if err := c.run(t, want); !errors.Is(err, errKilled) {
						t.Fatalf("request %d: got %v, want it to be killed", at, err)
					}
					c.left, c.late = 1000, false
					for range 3 {
						if err := c.run(t, want); err != nil {
							t.Fatalf("request %d, late %t: %v", at, late, err)
						}
					}
					if got := c.end(ch.path()); !reflect.DeepEqual(got, end) {
						t.Errorf("request %d, late %t: got\n%v, want\n%v", at, late, got, end)
					}
					if got := c.end(claimPath); !reflect.DeepEqual(got, claim) {
						t.Errorf("request %d, late %t: the claim is\n%v, want\n%v", at, late, got, claim)
					}
					c.sent = nil
					if err := c.run(t, want); err != nil || len(c.sent) > 0 {
						t.Errorf("request %d, late %t: the last run sent %q, %v, want nothing", at, late, c.sent, err)
					}
				}
			}
		})
	}
}

// What kubectl applied and the manifest does not have is gone, and the fields of others stay.
func TestTakeOver(t *testing.T) {
	c := newCluster(t)
	byKubectl(t, c)
	c.Edit(t, "kubectl-annotate", deploymentPath, func(o map[string]any) {
		o["metadata"].(map[string]any)["annotations"].(map[string]any)["note"] = "stays"
	})
	before := specOf(c.Object(deploymentPath))["template"]
	if err := c.run(t, manifest(t, manifests.Deployment)); err != nil {
		t.Fatal(err)
	}
	o := c.Object(deploymentPath)
	var got []string
	for name := range o["metadata"].(map[string]any)["annotations"].(map[string]any) {
		got = append(got, name)
	}
	slices.Sort(got)
	if want := []string{"note", manifests.DigestAnnotation, "qontract.caller_name",
		"qontract.integration"}; !slices.Equal(got, want) {
		t.Errorf("the annotations are %q, want %q", got, want)
	}
	if specOf(o)["minReadySeconds"] != nil || !reflect.DeepEqual(specOf(o)["template"], before) {
		t.Errorf("the spec is %v, want no minReadySeconds and the same pods", specOf(o))
	}
}

// Adopting writes the mark and leaves everything else as it is, also what kubectl remembers.
func TestAdopt(t *testing.T) {
	c := newCluster(t)
	byKubectl(t, c)
	before := c.end(deploymentPath)
	d := c.doer()
	is, err := d.Read(t.Context(), manifests.Deployment, "n", "a")
	if err == nil {
		err = d.Mark(t.Context(), is, mark)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range mark.Annotations() {
		setAt(before, []string{"metadata", "annotations", name}, value)
	}
	for name, value := range mark.Labels() {
		setAt(before, []string{"metadata", "labels", name}, value)
	}
	if got := c.end(deploymentPath); !reflect.DeepEqual(got, before) {
		t.Errorf("got\n%v, want\n%v", got, before)
	}
}
