package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDocuments(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "86400")
	dir := t.TempDir()
	documents := func(folder string) {
		t.Helper()
		if code, out, errs := execute("documents", folder); code != ExitOK || out+errs != "" {
			t.Fatalf("got %d, %q, %q", code, out, errs)
		}
	}
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	documents(first)
	documents(second)
	for name, want := range map[string]string{
		"man/demo.1":                 `.TH "DEMO" "1" "Jan 1970"`,
		"man/demo-add.1":             `demo-add - Adds`,
		"man/demo-list-all.1":        `demo-list-all - Lists all`,
		"completions/demo.bash":      "bash completion V2 for demo",
		"completions/demo.zsh":       "#compdef demo",
		"completions/demo.fish":      "fish completion for demo",
		"man/demo-completion-fish.1": "demo-completion-fish",
	} {
		raw, err := os.ReadFile(filepath.Join(first, name))
		if text := strings.ReplaceAll(string(raw), `\-`, "-"); err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: got %q, %v, want %q", name, text, err, want)
		}
		if again, err := os.ReadFile(filepath.Join(second, name)); err != nil || string(again) != string(raw) {
			t.Errorf("%s: differs when it is written again, %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(first, "man/demo-documents.1")); err == nil {
		t.Error("the hidden command has a page")
	}
	t.Setenv("SOURCE_DATE_EPOCH", "today")
	if code, _, errs := execute("documents", dir); code != ExitUsage ||
		!strings.Contains(errs, "SOURCE_DATE_EPOCH: must be") {
		t.Errorf("got %d, %q", code, errs)
	}
}
