package saas

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// Bundles with the types of app-interface are read, whatever their values are: real ones,
// generated ones, and one with random values in all fields.
func TestReadRecordedBundles(t *testing.T) {
	for name, least := range map[string]int{"app-interface-head.json": 0, "generated-300-head.json": 20,
		"random-1-head.json": 0} {
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(shared.Path(t, "data", "bundles", name))
			if err != nil {
				t.Fatal(err)
			}
			raw = withoutRules(t, raw)
			m, err := Read(t.Context(), saastest.QueryOf(t, raw), Settings{})
			if err != nil {
				t.Fatal(err)
			}
			findings := Validate(m)
			if n := len(m.Cells()); n < least {
				t.Errorf("got %d cells, want at least %d; findings: %q", n, least, lines(findings))
			}
			counts := map[string]int{}
			for _, f := range findings {
				counts[string(f.Severity)+" "+string(f.Code)]++
			}
			t.Logf("%d files, %d cells, findings %v", len(m.Files), len(m.Cells()), counts)
			for _, c := range m.Cells() {
				if _, err := json.Marshal(m.CellState(c)); err != nil {
					t.Error(err)
				}
				for _, of := range c.Targets {
					if len(of.Hash()) != 16 || len(of.UID()) != 40 {
						t.Errorf("%s has the hash %q and the identity %q", of.Label(), of.Hash(), of.UID())
					}
				}
			}
			if p := NewPreview(m, m); len(p.Runs)+len(p.Promotions)+len(p.Unknown) > 0 {
				t.Errorf("without a change the preview says %q", previewLines(p))
			}
		})
	}
}

// withoutRules returns a bundle without rules that block images: if they are random, nothing can
// be said about any cell, and reading is an error.
func withoutRules(t *testing.T, raw []byte) []byte {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	for _, file := range all["data"].(object) {
		delete(file.(object), "imagePatternsBlockRules")
	}
	out, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
