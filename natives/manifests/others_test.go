package manifests_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/manifests"
)

// expect runs, and checks what the run sends and, for one that must not change anything, what it says.
func (c *cluster) expect(t *testing.T, want manifests.Object, sent string, says ...string) {
	t.Helper()
	c.sent = nil
	err := c.run(t, want)
	if got := strings.Join(c.sent, ", "); got != sent {
		t.Errorf("sent %q, want %q", got, sent)
	}
	switch {
	case len(says) == 0 && err != nil:
		t.Errorf("got %v", err)
	case len(says) > 0 &&
		(err == nil || slices.ContainsFunc(says, func(text string) bool { return !strings.Contains(err.Error(), text) })):
		t.Errorf("got %v, want %q", err, says)
	}
}

// What was scaled by others stays as it is, with a manager that the server notes and without one.
// Scaled back, it is ours again.
func TestScaledByOthers(t *testing.T) {
	for _, kind := range []manifests.Kind{manifests.Deployment, manifests.StatefulSet} {
		c, want := newCluster(t), manifest(t, kind)
		path := "/apis/apps/v1/namespaces/n/" + kind.Plural + "/a"
		c.expect(t, want, "create "+kind.Plural)
		c.Scale(t, "kubectl", path, 0)
		c.expect(t, want, "", ".spec.replicas (0 there, 1 wanted)", "kubectl scale")
		c.Scale(t, "kubectl", path, 3)
		c.expect(t, want, "", ".spec.replicas (3 there, 1 wanted)", "kubectl scale")
		container(want)["image"] = "quay.io/x:2"
		c.expect(t, want, "", ".spec.replicas (3 there, 1 wanted)", "kubectl scale")
		c.Scale(t, "kubectl", path, 1)
		c.expect(t, want, "apply "+kind.Plural)
		c.expect(t, want, "")
		c.Scale(t, "kubectl", path, 2)
		c.expect(t, want, "", "kubectl (through /scale) owns .spec.replicas (2 there, 1 wanted)", "override_managers")
		c.Scale(t, "kubectl", path, 1)
		c.expect(t, want, "apply "+kind.Plural)
		c.expect(t, want, "")
		specOf(want)["replicas"] = 4
		c.expect(t, want, "", "kubectl (through /scale) owns .spec.replicas (1 there, 4 wanted) as well", "take_fields_from")
	}
}

// Who undoes a change by its value gives the field back, and removes nothing of others.
func TestUndone(t *testing.T) {
	c, want := newCluster(t), manifest(t, manifests.Deployment)
	c.expect(t, want, "create deployments")
	image := func(image, more string) {
		c.Kubectl(t, "set", deploymentPath,
			`{"spec": {"template": {"spec": {"containers": [{"name": "int", "image": "`+image+`"`+more+`}]}}}}`)
	}
	image("quay.io/x:9", `, "env": [{"name": "Z", "value": "1"}]`)
	c.expect(t, want, "", "kubectl-set owns", "undo that change")
	image("quay.io/x:1", "")
	c.expect(t, want, "apply deployments")
	c.expect(t, want, "")
	if env, _ := container(c.Object(deploymentPath))["env"].([]any); len(env) != 3 {
		t.Errorf("the variables are %v", env)
	}
	c.Kubectl(t, "edit", deploymentPath, `{"metadata": {"labels": {"app": null}}}`)
	c.expect(t, want, "", "somebody changed .metadata.labels.app", "undo that change by hand")
	c.Kubectl(t, "edit", deploymentPath, `{"metadata": {"labels": {"app": "a"}}}`)
	c.expect(t, want, "apply deployments")
	c.expect(t, want, "")
}

// Variables that somebody put into another order are put back, those of others stay.
func TestOrder(t *testing.T) {
	c, want := newCluster(t), manifest(t, manifests.Deployment)
	c.expect(t, want, "create deployments")
	c.Edit(t, "kubectl-edit", deploymentPath, func(o map[string]any) {
		env := container(o)["env"].([]any)
		container(o)["env"] = []any{map[string]any{"name": "A", "value": "1"}, env[1],
			map[string]any{"name": "Z", "value": "1"}, env[0]}
	})
	c.expect(t, want, "apply deployments")
	c.expect(t, want, "")
	var names []string
	for _, v := range container(c.Object(deploymentPath))["env"].([]any) {
		names = append(names, v.(map[string]any)["name"].(string))
	}
	if len(names) != 4 || slices.Index(names, "X") > slices.Index(names, "REF") {
		t.Errorf("the variables are %q", names)
	}
}
