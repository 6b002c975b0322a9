package saastest

import (
	"encoding/json"
	"testing"
)

// A large world has the number of targets that was asked for, and answers without errors.
func TestLarge(t *testing.T) {
	query := Large(20, 200).Query(t)
	raw, err := query(t.Context(),
		"{ files: saas_files_v2 { name app { name } resourceTemplates { targets { ref namespace { cluster { name } } } } } }",
		nil)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Files []struct {
			ResourceTemplates []struct{ Targets []any }
		}
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range answer.Files {
		for _, r := range f.ResourceTemplates {
			n += len(r.Targets)
		}
	}
	if len(answer.Files) != 20 || n != 200 {
		t.Errorf("got %d files and %d targets, want 20 and 200", len(answer.Files), n)
	}
}

// A copy shares nothing with the world that it was made of.
func TestClone(t *testing.T) {
	w := New()
	c := w.Clone()
	c.Target(File, 0, 0)["ref"] = "stable"
	if got := w.Target(File, 0, 0)["ref"]; got != "main" {
		t.Errorf("the world changed with its copy: %v", got)
	}
}

// A type has only the fields that are not dropped.
func TestDrop(t *testing.T) {
	w := New()
	w.Drop = []string{"SaasFile_v2.compare"}
	if _, err := w.Query(t)(t.Context(), "{ saas_files_v2 { compare } }", nil); err == nil {
		t.Error("a dropped field can be asked for")
	}
	if _, err := w.Query(t)(t.Context(), "{ saas_files_v2 { takeover } }", nil); err != nil {
		t.Error(err)
	}
}
