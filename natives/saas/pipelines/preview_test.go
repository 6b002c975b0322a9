package pipelines

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/saas/saastest"
	"github.com/app-sre/prcheck/settings"
)

// stateOf returns the desired state of a world as text.
func stateOf(t *testing.T, w *saastest.World) string {
	t.Helper()
	var it settings.Integration
	out, err := New(Services{}).(integration.Stater).DesiredState(t.Context(), w.Query(t), it)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// In a merge request nobody is asked, and the report names the cells that the merge starts.
func TestMergeRequest(t *testing.T) {
	w := saastest.New()
	s := newTestScene(t, w)
	env := s.env()
	env.Base = w.Query(t)
	changed := w.Clone()
	changed.Set(saastest.File, "/openshift/new.yml", "resourceTemplates", 0, "path")
	for name, c := range map[string]struct {
		head *saastest.World
		want []string
	}{
		"nothing changed": {w, nil},
		"a template":      {changed, []string{"shop/production", "shop/stage"}},
	} {
		t.Run(name, func(t *testing.T) {
			s.begin()
			env.Query = c.head.Query(t)
			if err := New(s.services()).DryRun(t.Context(), env); err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, f := range s.findings {
				if f.Effect != nil && strings.HasPrefix(f.Effect.Subject, "run ") {
					found = append(found, f.Shard)
				}
			}
			if strings.Join(found, ",") != strings.Join(c.want, ",") || len(s.asked) > 0 {
				t.Errorf("found %v, asked %v, want %v and nothing asked", found, s.asked, c.want)
			}
		})
	}
}

// Everything that the loop reads of the data is in the desired state: a change of it is not
// skipped.
func TestDesiredState(t *testing.T) {
	base := saastest.New()
	before := stateOf(t, base)
	if again := stateOf(t, base.Clone()); again != before {
		t.Error("the same data have two desired states")
	}
	for name, change := range map[string]func(w *saastest.World){
		"ref":        func(w *saastest.World) { w.Target(saastest.File, 0, 0)["ref"] = "master" },
		"disable":    func(w *saastest.World) { w.Target(saastest.File, 0, 0)["disable"] = true },
		"deprecated": func(w *saastest.World) { w.Set(saastest.File, true, "deprecated") },
		"timeout":    func(w *saastest.World) { w.Set(saastest.File, "90m", "timeout") },
		"patterns":   func(w *saastest.World) { w.Set(saastest.File, []any{"quay.io/other/"}, "imagePatterns") },
		"provider":   func(w *saastest.World) { w.Set(saastest.Provider, "other", "name") },
		"console":    func(w *saastest.World) { w.Set(saastest.Cluster, "https://other.example.com", "consoleUrl") },
		"prometheus": func(w *saastest.World) {
			w.Target(saastest.File, 0, 1)["slos"] = []any{saastest.Ref(saastest.SLOs)}
		},
		"hash length": func(w *saastest.World) { w.Set(saastest.Settings, 9, "hashLength") },
		"hotfix": func(w *saastest.World) {
			w.Set(saastest.App, []any{saastest.Sha}, "codeComponents", 0, "hotfixVersions")
		},
		"upstream": func(w *saastest.World) {
			w.Target(saastest.File, 0, 0)["upstream"] = map[string]any{"instance": saastest.Ref(saastest.Jenkins),
				"name": "build"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := base.Clone()
			change(w)
			if stateOf(t, w) == before {
				t.Error("the desired state stays the same")
			}
		})
	}
	with := base.Clone()
	with.Target(saastest.File, 0, 1)["slos"] = []any{saastest.Ref(saastest.SLOs)}
	moved := with.Clone()
	moved.Set(saastest.Cluster, "https://elsewhere.example.com", "prometheusUrl")
	if stateOf(t, with) == stateOf(t, moved) {
		t.Error("where objectives are measured is not in the desired state")
	}
}

// A dry run decides as a run does.
func TestDryRunDecidesAsRun(t *testing.T) {
	s := newTestScene(t, saastest.Large(3, 12))
	publishAll(t, s)
	for round := range 4 {
		if err := s.dry(); err != nil {
			t.Fatal(err)
		}
		dry := s.units
		before := s.documents(t)
		if err := s.dry(); err != nil || s.documents(t) != before {
			t.Fatalf("a dry run wrote, %v", err)
		}
		if err := s.run(); err != nil {
			t.Fatal(err)
		}
		if len(dry) != len(s.units) {
			t.Fatalf("%d and %d cells", len(dry), len(s.units))
		}
		for i, u := range s.units {
			u.Started = false
			u.Hold, dry[i].Hold = withoutRun(u.Hold), withoutRun(dry[i].Hold)
			u.Since, dry[i].Since = s.now, s.now
			if jsonOf(u) != jsonOf(dry[i]) {
				t.Errorf("round %d: dry %+v, real %+v", round, dry[i], u)
			}
		}
		s.end(map[bool]string{true: "True", false: "False"}[round%2 == 0])
		s.heads["https://github.com/acme/app-001 main"] = saastest.Shas(round + 4)[round+3]
	}
}

// withoutRun leaves out the name of a run, which is another one each time.
func withoutRun(hold string) string {
	if strings.HasPrefix(hold, "run ") {
		return "run"
	}
	return hold
}
