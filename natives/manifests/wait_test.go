package manifests_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// addPod makes a ReplicaSet of the Deployment a, and a pod of it.
func addPod(t *testing.T, c *cluster) {
	t.Helper()
	uid := c.Object(deploymentPath)["metadata"].(map[string]any)["uid"]
	owned := func(kind, name string, uid any, path string) any {
		c.Edit(t, "controller", path, func(o map[string]any) {
			meta := o["metadata"].(map[string]any)
			meta["labels"] = map[string]any{"app": "a"}
			meta["ownerReferences"] = []any{map[string]any{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": uid,
				"controller": true}}
			if spec := manifest(t, manifests.Deployment)["spec"].(map[string]any); kind == "Deployment" {
				o["spec"] = map[string]any{"selector": spec["selector"], "template": spec["template"]}
			} else {
				o["spec"] = podOf(manifest(t, manifests.Deployment))
			}
		})
		return c.Object(path)["metadata"].(map[string]any)["uid"]
	}
	set := owned("Deployment", "a", uid, "/apis/apps/v1/namespaces/n/replicasets/a-1")
	owned("ReplicaSet", "a-1", set, podPath)
}

const podPath = "/api/v1/namespaces/n/pods/a-1-x"

// A Deployment is not made anew while a pod of the old one is left.
func TestReplaceWaitsForPods(t *testing.T) {
	c, want := newCluster(t), manifest(t, manifests.Deployment)
	c.opts.MigrateSelector = true
	if err := c.run(t, want); err != nil {
		t.Fatal(err)
	}
	addPod(t, c)
	is, err := c.doer().Read(t.Context(), manifests.Deployment, "n", "a")
	if err != nil {
		t.Fatal(err)
	}
	if pods, err := c.doer().Pods(t.Context(), is); err != nil || manifests.Running(pods) == 0 {
		t.Errorf("%v, %v, want a pod that is left", pods, err)
	}
	for _, at := range [][]string{{"spec", "selector", "matchLabels"}, {"spec", "template", "metadata", "labels"}} {
		setAt(want, append(at, manifests.InstanceLabel), "a")
	}
	d := c.doer()
	d.Limit = 20 * time.Millisecond
	c.sent = nil
	err = d.Replace(t.Context(), want, is, mark)
	if err == nil || reconcile.ClassOf(err) != reconcile.ClassTransient || !strings.Contains(err.Error(), "not gone yet") {
		t.Errorf("got %v, want an error that says to come back", err)
	}
	if got := strings.Join(c.sent, ", "); got != "delete deployments Foreground" {
		t.Errorf("sent %s, want the deletion alone", got)
	}
	c.Remove(podPath)
	if pods, err := d.Pods(t.Context(), is); err != nil || manifests.Running(pods) != 0 {
		t.Errorf("%v, %v, want no pod", pods, err)
	}
	if err := c.run(t, want); err != nil || c.Object(deploymentPath) == nil {
		t.Errorf("the next run: %v, want the Deployment to be there", err)
	}
}

// A claim without a volume cannot grow: then nothing is deleted.
func TestClaimWithoutVolume(t *testing.T) {
	c, want := newCluster(t), manifest(t, manifests.StatefulSet)
	if err := c.run(t, want); err != nil {
		t.Fatal(err)
	}
	c.Edit(t, "controller", claimPath, func(o map[string]any) {
		o["spec"] = map[string]any{"accessModes": []any{"ReadWriteOnce"},
			"resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}}
	})
	setPointer(t, want, "/spec/volumeClaimTemplates/0/spec/resources/requests/storage", func(any) any { return "2Gi" })
	c.sent = nil
	if err := c.run(t,
		want); err == nil || !strings.Contains(err.Error(), "the claim cache-a-0 must grow to 2Gi and has no volume yet") ||
		len(c.sent) > 0 {
		t.Errorf("got %v and sent %q, want an error and nothing", err, c.sent)
	}
}

// A write of what somebody else has changed since the reading is a conflict, and writes nothing.
func TestWritesAreConditional(t *testing.T) {
	for name, write := range map[string]func(d manifests.Applier, want manifests.Object, is *manifests.Live) error{
		"update": func(d manifests.Applier, want manifests.Object, is *manifests.Live) error {
			container(want)["image"] = "quay.io/x:2"
			return d.Update(t.Context(), want, is, mark)
		},
		"mark": func(d manifests.Applier, _ manifests.Object, is *manifests.Live) error {
			return d.Mark(t.Context(), is, reconcile.Mark{Integration: "integrations-manager", Caller: "new"})
		},
		"scale": func(d manifests.Applier, _ manifests.Object, is *manifests.Live) error {
			return d.Scale(t.Context(), is, 0)
		},
		"remove": func(d manifests.Applier, _ manifests.Object, is *manifests.Live) error {
			return d.Remove(t.Context(), is)
		},
		"replace": func(d manifests.Applier, want manifests.Object, is *manifests.Live) error {
			d.Options.MigrateSelector = true
			setAt(want, []string{"spec", "selector", "matchLabels", "x"}, "y")
			return d.Replace(t.Context(), want, is, mark)
		},
		"create": func(d manifests.Applier, want manifests.Object, _ *manifests.Live) error {
			return d.Create(t.Context(), kindOf(want), "n", want, mark)
		},
	} {
		c, want := newCluster(t), manifest(t, manifests.Deployment)
		if err := c.run(t, want); err != nil {
			t.Fatal(err)
		}
		is, err := c.doer().Read(t.Context(), manifests.Deployment, "n", "a")
		if err != nil {
			t.Fatal(err)
		}
		c.Edit(t, "kubectl-label", deploymentPath, func(o map[string]any) {
			setAt(o, []string{"metadata", "labels", "new"}, "x")
		})
		before := c.Object(deploymentPath)["metadata"].(map[string]any)["resourceVersion"]
		if err := write(c.doer(), want, is); !errors.Is(err, reconcile.ErrConflict) {
			t.Errorf("%s: got %v, want a conflict", name, err)
		}
		if after := c.Object(deploymentPath); after == nil ||
			after["metadata"].(map[string]any)["resourceVersion"] != before {
			t.Errorf("%s: it was written", name)
		}
	}
}

// What must not be written is refused although it was planned: others may have changed it since.
func TestRefusals(t *testing.T) {
	c, want := newCluster(t), manifest(t, manifests.Deployment)
	if err := c.run(t, want); err != nil {
		t.Fatal(err)
	}
	read := func() *manifests.Live {
		is, err := c.doer().Read(t.Context(), manifests.Deployment, "n", "a")
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	c.Edit(t, "kubectl-edit", deploymentPath, func(o map[string]any) { specOf(o)["replicas"] = int64(0) })
	c.sent = nil
	if err := c.doer().Update(t.Context(), want, read(), mark); err == nil ||
		!strings.Contains(err.Error(), "FIELD_CONFLICT: kubectl-edit owns .spec.replicas") {
		t.Errorf("got %v, want a conflict of fields", err)
	}
	foreign := read()
	foreign.Ours = false
	for name, err := range map[string]error{"remove": c.doer().Remove(t.Context(), foreign),
		"replace": c.doer().Replace(t.Context(), want, read(), mark)} {
		if err == nil {
			t.Errorf("%s: it was done", name)
		}
	}
	if is, err := c.doer().Read(t.Context(), manifests.Deployment, "n", "none"); is != nil || err != nil {
		t.Errorf("got %v, %v, want nothing", is, err)
	}
	if err := c.doer().Create(t.Context(), manifests.Service, "n", manifests.Object{"kind": "Secret"}, mark); err == nil ||
		reconcile.ClassOf(err) != reconcile.ClassConfig {
		t.Errorf("got %v, want an error about the kind", err)
	}
	if len(c.sent) > 0 {
		t.Errorf("sent %q, want nothing", c.sent)
	}
	gone := read()
	c.Remove(deploymentPath)
	if err := c.doer().Remove(t.Context(), gone); err != nil {
		t.Errorf("what is gone cannot be deleted: %v", err)
	}
	if err := c.doer().Update(t.Context(), manifestOf(t, "quay.io/x:3"), gone, mark); err == nil ||
		errors.Is(err, integration.ErrNotThere) && !errors.Is(err, reconcile.ErrConflict) {
		t.Errorf("got %v, want a conflict", err)
	}
}

// manifestOf returns a Deployment with an image.
func manifestOf(t *testing.T, image string) manifests.Object {
	t.Helper()
	o := manifest(t, manifests.Deployment)
	container(o)["image"] = image
	delete(specOf(o), "replicas")
	return o
}
