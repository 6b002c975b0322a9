package kubetest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

const runsPath = "/apis/tekton.dev/v1/namespaces/f/pipelineruns"

func run(name, label, more string) string {
	return `{"apiVersion": "tekton.dev/v1", "kind": "PipelineRun", "metadata": {"name": "` + name +
		`", "namespace": "f", "labels": {"qontract.saas_file_name": "` + label + `"}}, ` + more +
		`"spec": {"pipelineRef": {"name": "o-x"}, "params": [{"name": "a", "value": "b"}]}}`
}

func tektonTable() []request {
	return []request{
		{"created", "POST", runsPath + strict, plain, run("web", "Web", "")},
		{"created again", "POST", runsPath + strict, plain, run("web", "Web", "")},
		{"a status that nobody may set", "POST", runsPath + strict, plain,
			run("other", "web", `"status": {"conditions": []}, `)},
		{"a name that is none", "POST", runsPath + strict, plain, run("Web", "web", "")},
		{"a label that is none", "POST", runsPath + strict, plain, run("label", "web (east)", "")},
		{"a long label", "POST", runsPath + strict, plain, run("label", strings.Repeat("x", 64), "")},
		{"another namespace", "POST", "/apis/tekton.dev/v1/namespaces/none/pipelineruns" + strict, plain,
			strings.Replace(run("web", "w", ""), `"f"`, `"none"`, 1)},
		{"read", "GET", runsPath + "/web", "", ""},
		{"not there", "GET", runsPath + "/gone", "", ""},
		{"applied", "PATCH", runsPath + "/web" + strict, apply, run("web", "Web", "")},
		{"annotated", "PATCH", runsPath + "/web" + other, merges, `{"metadata": {"annotations": {"a": "b"}}}`},
		{"changed", "PATCH", runsPath + "/web" + other, merges, `{"spec": {"params": []}}`},
		{"deleted", "DELETE", runsPath + "/other", plain, `{"propagationPolicy": "Background"}`},
	}
}

// The server in memory treats runs of pipelines as a real one does.
func TestTektonFidelity(t *testing.T) {
	r := Start(t)
	s := New(t)
	r.AddTekton(t)
	s.AddTekton()
	r.AddPipeline(t, "f", "o-x")
	s.AddPipeline(t, "f", "o-x")
	compare := func(name string, q request) {
		t.Helper()
		code, raw := r.Send(t, "admin", q.method, q.path, q.kind, q.body)
		want := answerOf(t, code, raw)
		code, raw = s.Send(t, q.method, q.path, q.kind, q.body)
		if got := answerOf(t, code, raw); got != want {
			g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
			// Which manager is said to own the map of labels, beside the labels, differs.
			g, w = withoutMaps(g), withoutMaps(w)
			if slices.Equal(g, w) {
				return
			}
			t.Errorf("%s: only in memory:\n%s\nonly real:\n%s", name, few(without(g, w)), few(without(w, g)))
		}
	}
	for _, q := range tektonTable() {
		compare(q.name, q)
	}
	for _, state := range []RunState{RunStarted, RunRunning, RunSucceeded, RunFailed} {
		if !r.PlayRun(t, "f", "web", state) {
			t.Error("the run is not there")
		}
		s.PlayRun(t, "f", "web", state)
		_, raw := r.Send(t, "admin", "GET", runsPath+"/web", "", "")
		if got, want := conditionOf(t, s.Object(runsPath+"/web")), conditionOf(t, objectFrom(t, raw)); got != want {
			t.Errorf("%s: in memory %s, real %s", state, got, want)
		}
	}
	if r.PlayRun(t, "f", "none", RunRunning) {
		t.Error("a run that is not there is played")
	}
	if !r.PlayRun(t, "f", "web", RunGone) {
		t.Error("a run cannot go")
	}
}

// withoutMaps returns the lines that do not say who owns a map of labels.
func withoutMaps(lines []string) []string {
	return slices.DeleteFunc(lines, func(l string) bool { return strings.HasSuffix(l, ".f:labels.. {}") })
}

// objectFrom decodes an object.
func objectFrom(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	body, err := decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// conditionOf returns what a run says of itself, without times.
func conditionOf(t *testing.T, body map[string]any) string {
	t.Helper()
	list := listOf(mapOf(body["status"])["conditions"])
	if len(list) != 1 {
		t.Fatalf("the status is %v", body["status"])
	}
	c := mapOf(list[0])
	delete(c, "lastTransitionTime")
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestTekton(t *testing.T) {
	s := New(t)
	s.AddTekton()
	s.AddPipeline(t, "f", "o-x")
	if code, raw := s.Send(t, http.MethodPost, runsPath, plain, run("web", "Web", "")); code != http.StatusCreated {
		t.Fatal(code, string(raw))
	}
	for state, want := range map[RunState]string{RunRunning: "Unknown", RunSucceeded: "True", RunCompleted: "True",
		RunFailed: "False", RunTimedOut: "False", RunCancelled: "False"} {
		s.PlayRun(t, "f", "web", state)
		if got := conditionOf(t, s.Object(runsPath+"/web")); !strings.Contains(got, `"status":"`+want+`"`) ||
			!strings.Contains(got, string(state)) {
			t.Errorf("%s: %s", state, got)
		}
	}
	if code, _ := s.Send(t, http.MethodGet, runsPath+"?labelSelector=qontract.saas_file_name", "",
		""); code != http.StatusOK {
		t.Error("runs cannot be listed by label")
	}
	s.PlayRun(t, "f", "web", RunGone)
	if got := s.Paths(); len(got) != 2 {
		t.Errorf("what is left: %q", got)
	}
}
