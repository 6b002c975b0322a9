package manager

import (
	"testing"

	"github.com/app-sre/prcheck/integration"
)

// Whoever asks hears how each object stands: before the first run nothing is there, after it everything is as the data
// say, and a change of the data is named by its field.
func TestStatus(t *testing.T) {
	s := newScene(t)
	ask := func() map[string]map[string]integration.Aspect {
		t.Helper()
		all, _ := New().(integration.StatusReader).Status(t.Context(), s.env(t, nil)) // it tells of what is not ready
		out := map[string]map[string]integration.Aspect{}
		for _, st := range all {
			out[st.Key] = map[string]integration.Aspect{}
			for _, c := range st.Conditions {
				out[st.Key][c.Type] = c
			}
		}
		return out
	}
	for key, of := range ask() {
		if of["Ready"].Reason != "NotThere" || of["Synced"].Status != integration.False {
			t.Errorf("before the first run %s is %+v", key, of)
		}
	}
	s.mustRun(t)
	is := ask()
	if len(is) != 4 {
		t.Errorf("%d things are told, want 4: %v", len(is), is)
	}
	for key, of := range is {
		if of["Synced"].Status != integration.True || of["Blocked"].Status != integration.False {
			t.Errorf("after the run %s is %+v", key, of)
		}
	}
	s.at(terraformFile, "managed", 0, "spec", "resources", "limits")["memory"] = "999Mi"
	differs := 0
	for _, of := range ask() {
		const want = "update: /spec/template/spec/containers/name=int/resources/limits/memory"
		if of["Synced"].Status == integration.False && of["Synced"].Message == want {
			differs++
		}
	}
	if differs != 2 {
		t.Errorf("%d things differ, want 2: %v", differs, ask())
	}
	if docs := s.writes(); len(docs) != 4 {
		t.Errorf("asking wrote: %q", docs)
	}
}
