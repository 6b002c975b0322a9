package parts_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/parts"
)

// A damaged file in a folder is a warning and its tasks have failed; a damaged file
// that is named is an error.
func TestRead(t *testing.T) {
	p := &plan.Plan{Digest: "sha256:" + strings.Repeat("1", 64), Tasks: []plan.Task{{ID: "a"}, {ID: "b"}}}
	dir := t.TempDir()
	write := func(name string, part plan.Fraction, task string) {
		t.Helper()
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		r := &plan.Results{Version: plan.Version, Plan: p.Digest, Part: part,
			Results: []plan.Result{{Task: task, Status: plan.Passed, Attempts: 1}}}
		if err := plan.WriteResults(f, r); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write("results-1.json", plan.Fraction{Part: 1, Of: 2}, "a")
	write("other.json", plan.Fraction{Part: 2, Of: 2}, "b") // is not named like results
	damaged := filepath.Join(dir, "results-2.json")
	if err := os.WriteFile(damaged, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}

	got, err := parts.Read(p, []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	isWarned := slices.ContainsFunc(got.Warnings, func(w string) bool { return strings.Contains(w, "results-2.json") })
	if len(got.Results) != 2 || !got.Results[0].OK() || got.Results[1].OK() || !got.Failed() || !isWarned {
		t.Errorf("got %+v, want a to have passed, b to have failed, and a warning of the damaged file", got)
	}
	if _, err := parts.Read(p, []string{damaged}); err == nil || !strings.Contains(err.Error(), "results-2.json") {
		t.Errorf("got %v of a damaged file that is named", err)
	}
	if _, err := parts.Read(p, nil); err == nil {
		t.Error("no name is no error")
	}
}
