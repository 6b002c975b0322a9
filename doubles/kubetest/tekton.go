package kubetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A RunState is what becomes of a PipelineRun. There is no controller of Tekton: a test plays it.
type RunState string

// The states. A run without a state was not seen by the controller yet.
const (
	RunStarted   RunState = "Started"
	RunRunning   RunState = "Running"
	RunSucceeded RunState = "Succeeded"
	RunCompleted RunState = "Completed" // succeeded, and a task was skipped
	RunFailed    RunState = "Failed"
	RunTimedOut  RunState = "PipelineRunTimeout"
	RunCancelled RunState = "Cancelled"
	RunGone      RunState = "" // somebody deletes it
)

// runStatus returns the status that Tekton writes.
func runStatus(state RunState, at time.Time) map[string]any {
	now := at.UTC().Format(time.RFC3339)
	status, message := "False", "Tasks Completed: 1 (Failed: 1, Cancelled 0), Skipped: 0"
	switch state {
	case RunStarted, RunRunning:
		status, message = "Unknown", "Tasks Completed: 0 (Failed: 0, Cancelled 0), Incomplete: 1, Skipped: 0"
	case RunSucceeded, RunCompleted:
		status, message = "True", "Tasks Completed: 1 (Failed: 0, Cancelled 0), Skipped: 0"
	}
	out := map[string]any{"startTime": now, "conditions": []any{
		map[string]any{"type": "Succeeded", "status": status, "reason": string(state), "message": message,
			"lastTransitionTime": now},
	}}
	if status != "Unknown" {
		out["completionTime"] = now
	}
	return out
}

// custom are the kinds of Tekton by their plural names. The server gives them a generation and no
// status, as it does with all kinds that definitions add.
var custom = map[string]string{"pipelines": "Pipeline", "pipelineruns": "PipelineRun"}

// AddTekton lets the server know pipelines and their runs. It is called before the first request.
func (s *Server) AddTekton() {
	if s.Versions == nil {
		s.Versions = map[string]string{}
	}
	for plural, kind := range custom {
		s.Kinds[plural], s.Versions[plural] = kind, "tekton.dev/v1"
	}
}

// AddPipeline makes a pipeline, and its namespace if there is none.
func (s *Server) AddPipeline(t testing.TB, namespace, name string) {
	t.Helper()
	addPipeline(t, namespace, name, func(method, path, kind, body string) (int, []byte) {
		return s.Send(t, method, path, kind, body)
	})
}

// PlayRun lets a run have a state from now on.
func (s *Server) PlayRun(t testing.TB, namespace, name string, state RunState) {
	t.Helper()
	path := runPath(namespace, name)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.objects[path] == nil:
		t.Fatalf("there is no run %s in %s", name, namespace)
	case state == RunGone:
		s.remove(path)
	default:
		s.setStatus(path, runStatus(state, time.Date(2026, 1, 1, 0, 0, s.version, 0, time.UTC)))
	}
}

func runPath(namespace, name string) string {
	return "/apis/tekton.dev/v1/namespaces/" + namespace + "/pipelineruns/" + name
}

// addPipeline makes a namespace and a pipeline in it.
func addPipeline(t testing.TB, namespace, name string, send func(method, path, kind, body string) (int, []byte)) {
	t.Helper()
	apply := func(path, body string) {
		t.Helper()
		if code, raw := send(http.MethodPatch, path+"?fieldManager=test", "application/apply-patch+yaml", body); code >= 300 {
			t.Fatalf("making %s: %d %s", path, code, raw)
		}
	}
	in := "/namespaces/" + namespace
	apply("/api/v1"+in, fmt.Sprintf(`{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": %q}}`, namespace))
	apply("/apis/tekton.dev/v1"+in+"/pipelines/"+name,
		fmt.Sprintf(`{"apiVersion": "tekton.dev/v1", "kind": "Pipeline", "metadata": {"name": %q, "namespace": %q}, "spec": {"tasks": []}}`, name, namespace))
}

// definition is a kind of Tekton as a cluster gets it. Tekton's own definitions keep all fields as
// well; the webhook that checks them is not here.
const definition = `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "%[1]s.tekton.dev"},
"spec": {"group": "tekton.dev", "scope": "Namespaced", "names": {"plural": "%[1]s", "singular": "%[2]s", "kind": "%[3]s", "listKind": "%[3]sList"},
"versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
"schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}}`

// AddTekton adds the kinds of Tekton to the cluster, and waits until it serves them.
func (r *Real) AddTekton(t testing.TB) {
	t.Helper()
	for plural, kind := range custom {
		path := "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + plural + ".tekton.dev?fieldManager=test"
		body := fmt.Sprintf(definition, plural, strings.ToLower(kind), kind)
		if code, raw := r.Send(t, "admin", http.MethodPatch, path, "application/apply-patch+yaml", body); code >= 300 {
			t.Fatalf("adding %s: %d %s", kind, code, raw)
		}
		r.await(t, "/apis/tekton.dev/v1/"+plural)
	}
}

// await waits until the server answers at a path.
func (r *Real) await(t testing.TB, path string) {
	t.Helper()
	for end := time.Now().Add(readyWithin); ; time.Sleep(50 * time.Millisecond) {
		code, raw := r.Send(t, "admin", http.MethodGet, path, "", "")
		if code == http.StatusOK {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: %d %s", path, code, raw)
		}
	}
}

// AddPipeline makes a pipeline, and its namespace if there is none.
func (r *Real) AddPipeline(t testing.TB, namespace, name string) {
	t.Helper()
	addPipeline(t, namespace, name, func(method, path, kind, body string) (int, []byte) {
		return r.Send(t, "admin", method, path, kind, body)
	})
}

// PlayRun lets a run have a state from now on. It reports whether the run is there.
func (r *Real) PlayRun(t testing.TB, namespace, name string, state RunState) bool {
	t.Helper()
	path := runPath(namespace, name)
	if state == RunGone {
		code, _ := r.Send(t, "admin", http.MethodDelete, path, "", "")
		return code == http.StatusOK
	}
	body, err := json.Marshal(map[string]any{"status": runStatus(state, time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	code, raw := r.Send(t, "admin", http.MethodPatch, path+"/status", "application/merge-patch+json", string(body))
	if code != http.StatusOK && code != http.StatusNotFound {
		t.Fatalf("playing %s: %d %s", name, code, raw)
	}
	return code == http.StatusOK
}

// labelValue is what a server takes as the value of a label.
var labelValue = regexp.MustCompile(`^(([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9])?$`)

// checkLabels returns the labels that a server refuses.
func checkLabels(body map[string]any) []cause {
	var out []cause
	for _, v := range mapOf(body["metadata"], "labels") {
		if text := textOf(v); !labelValue.MatchString(text) {
			out = append(out,
				cause{"metadata.labels",
					fmt.Sprintf("Invalid value: %q: a valid label must be an empty string or consist of alphanumeric characters, "+
						"'-', '_' or '.'", text)})
		}
	}
	return out
}
