package checks_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/checks"
)

var noon = time.Date(2026, 3, 30, 12, 0, 0, 0, time.UTC)

func open(t *testing.T) (checks.Store, string) {
	t.Helper()
	dir := t.TempDir()
	s, err := state.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return checks.NewStore(s), dir
}

func planned(digest string, pipeline int64) *plan.Plan {
	return &plan.Plan{Digest: digest, MergeRequest: &plan.MergeRequest{Name: "g/p!7", Commit: "c", Pipeline: pipeline},
		Tasks: make([]plan.Task, 2), Integrations: []plan.Decision{{Name: "a", Decision: plan.Skip}}}
}

func part(number, of int, results ...plan.Result) *plan.Results {
	return &plan.Results{Part: plan.Fraction{Part: number, Of: of}, Results: results}
}

func effects(since plan.Since, how plan.ComparisonHow, kinds ...plan.EffectKind) *plan.Effects {
	out := &plan.Effects{Comparison: plan.Comparison{How: how}}
	for _, k := range kinds {
		out.Items = append(out.Items, plan.Effect{Kind: k, Subject: "x", Since: since})
	}
	return out
}

func brief(t *testing.T, s checks.Store) string {
	t.Helper()
	list, damaged, err := s.All(t.Context(), noon.Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	out := ""
	for _, c := range list {
		n := c.Sum()
		out += fmt.Sprintf("%s %s %d/%d: %d passed %d failed, -%d +%d ~%d, unknown %d, uncompared %d", c.MergeRequest,
			c.Status(), len(c.Parts), c.Of, n.Passed, n.Failed, n.Delete, n.Create, n.Change, n.Unknown, n.Uncompared)
	}
	if len(damaged) > 0 {
		out += fmt.Sprintf(" and %d damaged", len(damaged))
	}
	return out
}

func TestAdd(t *testing.T) {
	s, _ := open(t)
	passed := plan.Result{Task: "a", Status: plan.Passed}
	deletes := plan.Result{Status: plan.Passed,
		Effects: effects("", plan.ComparedWithNone, plan.EffectDelete, plan.EffectCreate)}
	pending := plan.Result{Status: plan.Passed, Effects: effects(plan.SinceBase, plan.ComparedByRun, plan.EffectDelete)}
	for _, step := range []struct {
		name string
		p    *plan.Plan
		rs   *plan.Results
		want string
	}{
		{"no merge request", &plan.Plan{}, part(0, 0, passed), ""},
		{"one part", planned("p", 5), part(2, 2, passed),
			"g/p!7 running 1/2: 1 passed 0 failed, -0 +0 ~0, unknown 1, uncompared 0"},
		{"the other part", planned("p", 5), part(1, 2, deletes),
			"g/p!7 passed 2/2: 2 passed 0 failed, -1 +1 ~0, unknown 1, uncompared 1"},
		{"the same part again", planned("p", 5), part(1, 2, pending),
			"g/p!7 passed 2/2: 2 passed 0 failed, -0 +0 ~0, unknown 1, uncompared 0"},
		{"an earlier pipeline that ended late", planned("o", 4), part(0, 0, passed),
			"g/p!7 passed 2/2: 2 passed 0 failed, -0 +0 ~0, unknown 1, uncompared 0"},
		{"a later one fails in its first part", planned("q", 6), part(1, 3, plan.Result{Status: plan.Failed}),
			"g/p!7 failed 1/3: 0 passed 1 failed, -0 +0 ~0, unknown 1, uncompared 0"},
		{"the same plan in the next pipeline", planned("q", 7), part(0, 0, pending),
			"g/p!7 passed 1/1: 1 passed 0 failed, -0 +0 ~0, unknown 0, uncompared 0"},
	} {
		if err := s.Add(t.Context(), step.p, step.rs, noon); err != nil {
			t.Fatal(err)
		}
		if got := brief(t, s); got != step.want {
			t.Errorf("%s: got\n%s\nwant\n%s", step.name, got, step.want)
		}
	}
}

func TestDamaged(t *testing.T) {
	s, dir := open(t)
	if err := s.Add(t.Context(), planned("p", 5), part(0, 0), noon); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "checks", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	for _, bad := range []string{"{", `{"version":"2"}`, `{"version":"1","merge_request":"g/p!7","of":0}`,
		`{"version":"1","merge_request":"g/p!8","of":1,"written":"2026-03-01T12:00:00Z","parts":[]}`,
		`{"version":"1","merge_request":"g/p!7","of":1,"written":"2026-03-01T12:00:00Z","parts":[{"part":2}]}`,
		`{"version":"1","merge_request":"g/p!7","of":2,"written":"2026-03-30T12:00:00Z","parts":[{"part":1,"verdict":"passed"},` +
			`{"part":1,"verdict":"passed"}]}`} {
		if err := os.WriteFile(files[0], []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := brief(t, s); got != " and 1 damaged" {
			t.Errorf("%s: got %q", bad, got)
		}
	}
}
