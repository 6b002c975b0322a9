package kube_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"

	"github.com/app-sre/prcheck/natives/kube"
	"github.com/app-sre/prcheck/natives/kube/writer"
)

// webOf returns a Deployment of a namespace.
func webOf(namespace string) integration.ObjectRef {
	return integration.ObjectRef{Resource: deployment.Resource, Namespace: namespace, Name: "web"}
}

// webBody returns the body of a Deployment with an image, and more fields of its spec.
func webBody(namespace, image string, was integration.Preconditions, spec string) string {
	metadata := fmt.Sprintf(`"name": "web", "namespace": %q`, namespace)
	if was.UID != "" {
		metadata += fmt.Sprintf(`, "uid": %q, "resourceVersion": %q`, was.UID, was.ResourceVersion)
	}
	return fmt.Sprintf(
		`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {%s}, "spec": {"selector": {"matchLabels": {"app": "web"}}, %s
"template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "int", "image": %q}]}}}}`, metadata, spec, image)
}

// A web is what the tests look at in a Deployment.
type web struct {
	Metadata struct {
		UID, ResourceVersion string
		Labels, Annotations  map[string]string
		ManagedFields        []struct{ Manager, Operation string }
	}
	Spec struct {
		Replicas int
		Paused   bool
		Strategy struct {
			Type          string
			RollingUpdate any
		}
		Template struct {
			Spec struct {
				Containers []struct{ Name, Image string }
			}
		}
	}
}

func webFrom(t *testing.T, raw json.RawMessage, err error) web {
	t.Helper()
	var is web
	if err == nil {
		err = json.Unmarshal(raw, &is)
	}
	if err != nil {
		t.Fatal(err)
	}
	return is
}

func (w web) was() integration.Preconditions {
	return integration.Preconditions{UID: w.Metadata.UID, ResourceVersion: w.Metadata.ResourceVersion}
}

// makeShop makes a namespace.
func makeShop(t *testing.T, w *writer.Writer, name string) {
	t.Helper()
	if _, err := w.Create(t.Context(), namespace(name), labeled(name, none, nil)); err != nil {
		t.Fatal(err)
	}
}

// A merge patch changes what it names of this one state of an object.
func tryMerge(t *testing.T, _ world, w *writer.Writer) {
	makeShop(t, w, "merge")
	ref := webOf("merge")
	raw, err := w.Create(t.Context(), ref, json.RawMessage(webBody("merge", "a", none, `"replicas": 1,`)))
	first := webFrom(t, raw, err)
	patch := json.RawMessage(`{"metadata": {"labels": {"a": "1"}}, "spec": {"replicas": 0}}`)
	raw, err = w.Merge(t.Context(), ref, patch, first.was())
	second := webFrom(t, raw, err)
	if second.Spec.Replicas != 0 || second.Metadata.Labels["a"] != "1" || second.was() == first.was() {
		t.Errorf("got %+v", second)
	}
	raw, err = w.Merge(t.Context(), ref, patch, second.was())
	if again := webFrom(t, raw, err); again.was() != second.was() {
		t.Errorf("a patch that changes nothing makes version %v of %v", again.was(), second.was())
	}
	other := second.was()
	other.UID = "00000000-0000-0000-0000-000000000000"
	for name, was := range map[string]integration.Preconditions{"old": first.was(), "another": other} {
		if _, err := w.Merge(t.Context(), ref, patch, was); !errors.Is(err, integration.ErrChanged) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := w.Merge(t.Context(), webOf("nowhere"), patch, was); !errors.Is(err, integration.ErrNotThere) {
		t.Errorf("got %v", err)
	}
	if _, err := w.Merge(t.Context(), ref, json.RawMessage(`{"spec": {"nope": 1}}`), second.was()); err == nil ||
		!strings.Contains(err.Error(), "nope") {
		t.Errorf("unknown field: got %v", err)
	}
	_, err = w.Merge(t.Context(), ref,
		json.RawMessage(
			`{"spec": {"selector": {"matchLabels": {"app": "x"}}, "template": {"metadata": {"labels": {"app": "x"}}}}}`),
		second.was())
	if err == nil || !strings.Contains(err.Error(), "spec.selector") ||
		!strings.Contains(err.Error(), "field is immutable") ||
		integration.ClassOfFailure(err) != integration.FailureOfConfig {
		t.Errorf("selector: got %v", err)
	}
	// What was merged is ours as an update, so an apply conflicts with ourselves until it is taken.
	_, err = w.Apply(t.Context(), ref, json.RawMessage(webBody("merge", "a", second.was(), `"replicas": 1,`)))
	conflict := &integration.FieldConflict{}
	if !errors.As(err, &conflict) || conflict.Fields[0] != ".spec.replicas" || conflict.Managers[0] != "prcheck-shelves" {
		t.Errorf("got %v", err)
	}
	raw, err = w.Get(t.Context(), ref)
	if err == nil {
		raw, err = w.TakeFields(t.Context(), ref, raw, nil)
	}
	third := webFrom(t, raw, err)
	raw, err = w.Apply(t.Context(), ref, json.RawMessage(webBody("merge", "a", third.was(), `"replicas": 1,`)))
	if is := webFrom(t, raw, err); is.Spec.Replicas != 1 || is.Metadata.Labels["a"] != "" ||
		len(is.Metadata.ManagedFields) != 1 {
		t.Errorf("got %+v", is)
	}
}

// What kubectl apply made becomes what we applied: fields that we do not name go.
func tryTake(t *testing.T, o world, w *writer.Writer) {
	makeShop(t, w, "take")
	ref := webOf("take")
	path := "/apis/apps/v1/namespaces/take/deployments"
	body := strings.Replace(webBody("take", "a", none, `"paused": true, "replicas": 1,`), `"name": "web",`,
		`"name": "web", "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "old": "1"},`, 1)
	if code, raw := o.send(t, http.MethodPost, path+"?fieldManager=kubectl-client-side-apply", "application/json",
		body); code != http.StatusCreated {
		t.Fatalf("%d %s", code, raw)
	}
	// Another program has a field of its own in the same list.
	if code, raw := o.send(t, http.MethodPatch, path+"/web?fieldManager=scaler", "application/merge-patch+json",
		`{"metadata": {"labels": {"by": "scaler"}}}`); code != http.StatusOK {
		t.Fatalf("%d %s", code, raw)
	}
	read, err := w.Get(t.Context(), ref)
	first := webFrom(t, read, err)
	raw, err := w.TakeFields(t.Context(), ref, read, []string{"kubectl-client-side-apply", "oc"})
	taken := webFrom(t, raw, err)
	if got := fmt.Sprint(taken.Metadata.ManagedFields); got != "[{prcheck-shelves Apply} {scaler Update}]" {
		t.Errorf("managers are %s", got)
	}
	if fmt.Sprint(taken.Metadata.Annotations) != "map[old:1]" || fmt.Sprint(taken.Spec) != fmt.Sprint(first.Spec) {
		t.Errorf("got %+v, was %+v", taken, first)
	}
	if again, err := w.TakeFields(t.Context(), ref, raw, []string{"kubectl-client-side-apply", "oc"}); err != nil ||
		string(again) != string(raw) {
		t.Errorf("taken twice: %v", err)
	}
	if _, err := w.TakeFields(t.Context(), ref, read, []string{"kubectl-client-side-apply"}); !errors.Is(err,
		integration.ErrChanged) {
		t.Errorf("of an object that was read before: got %v", err)
	}
	raw, err = w.Apply(t.Context(), ref,
		json.RawMessage(webBody("take", "a", taken.was(), `"strategy": {"type": "Recreate"}, "replicas": 1,`)))
	is := webFrom(t, raw, err)
	if is.Spec.Paused || is.Spec.Strategy.Type != "Recreate" || is.Spec.Strategy.RollingUpdate != nil ||
		len(is.Metadata.Annotations) != 0 || is.Metadata.Labels["by"] != "scaler" {
		t.Errorf("applied, it is %+v", is)
	}
	raw, err = w.Apply(t.Context(), ref,
		json.RawMessage(webBody("take", "a", is.was(), `"strategy": {"type": "Recreate"}, "replicas": 1,`)))
	if again := webFrom(t, raw, err); again.was() != is.was() {
		t.Errorf("applied twice, it is version %v of %v", again.was(), is.was())
	}
}

// A trial says what an apply would do, and does nothing.
func tryTrial(t *testing.T, o world, w *writer.Writer) {
	makeShop(t, w, "trial")
	k, err := kube.OpenTrial(o.access)
	if err != nil {
		t.Fatal(err)
	}
	ctx, ref := t.Context(), webOf("trial")
	raw, err := k.TryApply(ctx, ref, json.RawMessage(webBody("trial", "a", none, "")))
	if is := webFrom(t, raw, err); is.Spec.Strategy.Type != "RollingUpdate" || is.Spec.Replicas != 1 {
		t.Errorf("a creation gives %+v", is)
	}
	if _, err := w.Get(ctx, ref); !errors.Is(err, integration.ErrNotThere) {
		t.Fatalf("the trial of a creation is kept: %v", err)
	}
	raw, err = w.Create(ctx, ref, json.RawMessage(webBody("trial", "a", none, "")))
	first := webFrom(t, raw, err)
	if _, err := k.TryApply(ctx, ref, json.RawMessage(webBody("trial", "a", none, ""))); !errors.Is(err,
		integration.ErrChanged) {
		t.Errorf("created again: got %v", err)
	}
	raw, err = k.TryApply(ctx, ref, json.RawMessage(webBody("trial", "b", first.was(), "")))
	if is := webFrom(t, raw, err); is.Spec.Template.Spec.Containers[0].Image != "b" {
		t.Errorf("a change gives %+v", is)
	}
	raw, err = w.Get(ctx, ref)
	if is := webFrom(t, raw, err); is.was() != first.was() || is.Spec.Template.Spec.Containers[0].Image != "a" {
		t.Errorf("the trial of a change is kept: %+v", is)
	}
	if code, raw := o.send(t, http.MethodPatch, "/apis/apps/v1/namespaces/trial/deployments/web?fieldManager=kubectl",
		"application/merge-patch+json", `{"spec": {"replicas": 0}}`); code != http.StatusOK {
		t.Fatalf("%d %s", code, raw)
	}
	_, err = k.TryApply(ctx, ref, json.RawMessage(webBody("trial", "a", first.was(), `"replicas": 1,`)))
	conflict := &integration.FieldConflict{}
	if !errors.As(err, &conflict) || fmt.Sprint(conflict.Managers, conflict.Fields) != "[kubectl] [.spec.replicas]" {
		t.Errorf("got %v", err)
	}
	if _, err := k.TryApply(ctx, ref, json.RawMessage(webBody("trial", "a", first.was(), ""))); !errors.Is(err,
		integration.ErrChanged) {
		t.Errorf("an old version: got %v", err)
	}
	if _, err := k.TryApply(ctx, ref, json.RawMessage(webBody("trial", "a", none, `"nope": 1,`))); err == nil ||
		!strings.Contains(err.Error(), "nope") {
		t.Errorf("an unknown field: got %v", err)
	}
}
