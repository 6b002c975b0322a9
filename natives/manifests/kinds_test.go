package manifests_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/kube"
	"github.com/app-sre/prcheck/natives/kube/writer"
	"github.com/app-sre/prcheck/natives/manifests"
)

// A kindCase is an object of some kind, and a change of it.
type kindCase struct {
	name, object string
	change       func(o manifests.Object) // nil is none
	sent         []string                 // by the change
	others       func(o manifests.Object) // what others add to the object, which nobody minds
}

// set returns a change of the value at a place.
func set(value any, at ...string) func(manifests.Object) {
	return func(o manifests.Object) {
		for _, name := range at[:len(at)-1] {
			below, ok := o[name].(map[string]any)
			if !ok {
				below = map[string]any{}
				o[name] = below
			}
			o = below
		}
		o[at[len(at)-1]] = value
	}
}

const jobText = `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"backoffLimit": 2, "template": {"metadata": {"labels": {"app": "a"}},
	"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "quay.io/x:1", "args": ["a"], "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": ""}]}]}}}}`

// kindCases are objects of kinds that each server has.
func kindCases() []kindCase {
	replaced := func(plural, dependents string) []string {
		return []string{"delete " + plural + " " + dependents, "create " + plural}
	}
	return []kindCase{
		{name: "a ConfigMap",
			object: `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "creationTimestamp": null}, "data": {"a": "1", "b": "2\n"}, "status": {}}`,
			change: set("3", "data", "a"), sent: []string{"apply configmaps"}},
		{name: "a ConfigMap with a key less",
			object: `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "1", "b": "2"}}`,
			change: set(map[string]any{"a": "1"}, "data"), sent: []string{"apply configmaps"}},
		{name: "a ConfigMap that is immutable",
			object: `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "immutable": true, "data": {"a": "1"}}`,
			change: set("3", "data", "a"), sent: replaced("configmaps", "Background")},
		{name: "a Secret",
			object: `{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "type": "Opaque", "data": {"a": "eHh4\n", "b": ""}, "stringData": {"a": "yyy", "c": "1"}}`,
			change: set("zzz", "stringData", "c"), sent: []string{"apply secrets"}},
		{name: "a Secret of another type",
			object: `{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "stringData": {"a": "yyy"}}`,
			change: set("example.com/x", "type"), sent: replaced("secrets", "Background")},
		{name: "a ServiceAccount",
			object: `{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}, "imagePullSecrets": [{"name": "quay"}], "secrets": [{"name": "mine"}]}`,
			others: func(o manifests.Object) {
				for _, list := range []string{"imagePullSecrets", "secrets"} {
					o[list] = append(o[list].([]any), map[string]any{"name": "a-dockercfg-x1"})
				}
			}, change: set([]any{map[string]any{"name": "quay"}, map[string]any{"name": "more"}}, "imagePullSecrets"),
			sent: []string{"merge serviceaccounts", "take serviceaccounts", "apply serviceaccounts"}},
		{name: "a Job", object: jobText, change: set(int64(3), "spec", "backoffLimit"), sent: []string{"apply jobs"}},
		{name: "a Job with other pods", object: jobText, sent: replaced("jobs", "Foreground"),
			change: func(o manifests.Object) { container(o)["image"] = "quay.io/x:2" }},
		{name: "a Job with a variable less", object: jobText, sent: replaced("jobs", "Foreground"),
			change: func(o manifests.Object) { container(o)["env"] = container(o)["env"].([]any)[:1] }},
	}
}

// Objects of any kind are made, are equal afterwards, and become as a change of them says, with
// as few requests as possible.
func TestKinds(t *testing.T) {
	for _, c := range kindCases() {
		t.Run(c.name, func(t *testing.T) { c.check(t, newCluster(t)) })
	}
}

// check makes the object, changes it and looks what was sent.
func (c kindCase) check(t *testing.T, in *cluster) {
	want := manifests.Normal(parse(t, c.object))
	of, err := in.Kind(t.Context(), want["apiVersion"].(string), want["kind"].(string))
	if err != nil {
		t.Fatal(err)
	}
	step := func(name string, want manifests.Object, sent ...string) {
		t.Helper()
		in.sent = nil
		if err := in.runKind(t, of, want); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !slices.Equal(in.sent, sent) {
			t.Errorf("%s: sent %q, want %q", name, in.sent, sent)
		}
	}
	step("at first", want, "create "+of.Plural)
	step("again", want)
	if c.others != nil {
		in.Edit(t, "somebody", pathOf(of), c.others)
		step("after others", want, "apply "+of.Plural) // the lists of the manifest are other ones now
		step("again after others", want)
	}
	if c.change == nil {
		return
	}
	changed := parse(t, c.object)
	c.change(changed)
	changed = manifests.Normal(changed)
	step("changed", changed, c.sent...)
	step("again", changed)
}

// pathOf returns the path of the object of a kind.
func pathOf(of manifests.Kind) string {
	path := "/apis/" + of.APIVersion()
	if of.Group == "" {
		path = "/api/" + of.Version
	}
	if of.Namespaced {
		path += "/namespaces/n"
	}
	return path + "/" + of.Plural + "/a"
}

// runKind does what the difference of an object asks for. What is deleted is gone at once.
func (c *cluster) runKind(t *testing.T, of manifests.Kind, want manifests.Object) error {
	t.Helper()
	ctx, d := t.Context(), c.doer()
	d.Writer = goneAtOnce{c, of}
	is, err := d.Read(ctx, of, "n", "a")
	if err != nil {
		return err
	}
	if is == nil {
		return d.Create(ctx, of, "n", want, mark)
	}
	diff, err := manifests.Diff(want, is, c.opts)
	switch {
	case err != nil:
		return err
	case diff.Mistake.Message != "":
		return errors.New(diff.Mistake.Message)
	case diff.Replace:
		return d.Replace(ctx, want, is, mark)
	case len(diff.Changes) > 0:
		t.Logf("%+v", diff.Changes)
		return d.Update(ctx, want, is, mark)
	}
	return nil
}

// goneAtOnce plays the controller that removes what waits for its dependents.
type goneAtOnce struct {
	*cluster
	of manifests.Kind
}

func (g goneAtOnce) Delete(ctx context.Context, ref integration.ObjectRef, was integration.Preconditions,
	p integration.Propagation) error {
	err := g.cluster.Delete(ctx, ref, was, p)
	if err == nil && p == integration.Foreground {
		g.Remove(pathOf(g.of))
	}
	return err
}

// A custom resource: its lists are known by what the server says of them, or by their indexes.
func TestCustomKinds(t *testing.T) {
	s := kubetest.New(t)
	s.Kinds["widgets"], s.Versions["widgets"] = "Widget", "example.com/v1"
	s.Edit(t, "test", "/api/v1/namespaces/n", func(map[string]any) {})
	checkWidgets(t, clusterOf(t, memory{s}, kube.Access{Server: s.URL, Token: s.Token}))
}

func checkWidgets(t *testing.T, in *cluster) {
	const widget = `{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"selector": {"a": "b"}, "ports": [{"port": 1}, {"nothing": true}], "env": [{"name": "x"}, {"value": "y"}], "empty": {}, "zero": 0, "none": null}}`
	for name, change := range map[string]func(manifests.Object){
		"another order": set([]any{map[string]any{"nothing": true}, map[string]any{"port": int64(1)}}, "spec", "ports"),
		"one more": set([]any{map[string]any{"name": "x"}, map[string]any{"value": "y"}, map[string]any{}}, "spec",
			"env"),
		"a value": set(int64(1), "spec", "zero"),
		"none":    set(map[string]any{}, "spec"),
	} {
		t.Run(name, func(t *testing.T) {
			c := kindCase{object: widget, change: change, sent: []string{"apply widgets"}}
			c.check(t, in)
			in.Edit(t, "operator", "/apis/example.com/v1/namespaces/n/widgets/a", set("more", "spec", "operator"))
			in.sent = nil
			want := parse(t, widget)
			change(want)
			of := manifests.Kind{Resource: integration.Resource{Group: "example.com", Version: "v1", Plural: "widgets"},
				Name: "Widget", Namespaced: true}
			if err := in.runKind(t, of, manifests.Normal(want)); err != nil || len(in.sent) > 0 {
				t.Errorf("after an operator added a field: sent %q, %v", in.sent, err)
			}
			is, err := in.doer().Read(t.Context(), of, "n", "a")
			if err != nil || is == nil {
				t.Fatalf("got %+v, %v", is, err)
			}
			if err := in.doer().Remove(t.Context(), is); err != nil {
				t.Error(err)
			}
		})
	}
}

// clusterOf returns what reaches a server.
func clusterOf(t *testing.T, s server, access kube.Access) *cluster {
	t.Helper()
	access.Name, access.Integration = "c1", "integrations-manager"
	w, err := writer.Open(access)
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{server: s, ClusterWriter: w, opts: options, left: 1000}
}
