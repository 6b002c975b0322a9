package kubetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// managersOf returns a line for each entry of the managers of an object, with what it has of the
// number of pods.
func managersOf(s *Server, path string) string {
	var out []string
	for _, e := range listOf(mapOf(s.Object(path)["metadata"])["managedFields"]) {
		entry := mapOf(e)
		line := fmt.Sprintf("%v %v %v", entry["manager"], entry["operation"], entry["subresource"])
		if _, has := mapOf(entry["fieldsV1"], "f:spec")["f:replicas"]; has {
			line += " replicas"
		}
		out = append(out, strings.ReplaceAll(line, " <nil>", ""))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// A scale takes the number of pods from its manager, and says the new one in its subresource. The
// number 0 has no manager, since a scale leaves it out, and neither has the next number, since a
// server notes no manager of what had none.
func TestScale(t *testing.T) {
	for _, path := range []string{webPath, cachePath} {
		s := started(t)
		body := webWith(`"replicas": 1,`, small("i"))
		if path == cachePath {
			body = cacheWith(`"replicas": 1,`, "1Gi")
		}
		write(t, s, path, body)
		for _, step := range []struct {
			by   string
			pods int
			want string
		}{
			{"kubectl", 1, "m Apply replicas"},
			{"kubectl", 3, "kubectl Update scale replicas, m Apply"},
			{"kube-controller-manager", 2, "kube-controller-manager Update scale replicas, m Apply"},
			{"kubectl", 0, "m Apply"},
			{"kubectl", 0, "m Apply"},
			{"kubectl", 1, "m Apply"},
			{"kubectl", 3, "m Apply"},
			{"kubectl", 1, "m Apply"},
		} {
			s.Scale(t, step.by, path, step.pods)
			if got := managersOf(s, path); got != step.want || number(mapOf(s.Object(path)["spec"])["replicas"]) != step.pods {
				t.Errorf("%s scales to %d: got %s, want %s", step.by, step.pods, got, step.want)
			}
		}
		write(t, s, path, body)
		if got, want := managersOf(s, path), "m Apply replicas"; got != want {
			t.Errorf("after an apply of the same number: got %s, want %s", got, want)
		}
	}
}

// What edit, patch and set of kubectl change belongs to managers of their names.
func TestKubectlInMemory(t *testing.T) {
	s := started(t)
	write(t, s, webPath, webWith(`"replicas": 1,`, small("i")))
	s.Kubectl(t, "edit", webPath, `{"spec": {"replicas": 0}}`)
	s.Kubectl(t, "set", webPath, `{"spec": {"template": {"spec": {"containers": [{"name": "int", "image": "j"}]}}}}`)
	s.Kubectl(t, "patch", webPath, `{"metadata": {"labels": {"a": "b"}}}`)
	want := "kubectl-edit Update replicas, kubectl-patch Update, kubectl-set Update, m Apply"
	if got := managersOf(s, webPath); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
