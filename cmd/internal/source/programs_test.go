package source

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/app-sre/prcheck/integration"
)

// What a command names in the folder that it starts in is a part of it, and nothing
// else is.
func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	settings := &integration.Settings{File: filepath.Join(dir, "repo", "prcheck.yaml")}
	of := func(words ...string) string { return Programs(settings)(words) }
	write("repo/hack/run.sh", "1")
	write("repo/integrations/dns/main.go", "1")
	write("repo/integrations/quay/main.go", "1")
	write("outside.sh", "1")
	if err := os.Symlink("../../outside.sh", filepath.Join(dir, "repo", "hack", "link.sh")); err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{nil, {"run"}, {"."}, {"./"}, {"../outside.sh"}, {filepath.Join(dir, "outside.sh")}, {"hack/none.sh"}, {""}, {"{config}"}, {"hack/run.sh\x00"}} {
		if got := of(words...); got != "" {
			t.Errorf("%q: got %q, want nothing", words, got)
		}
	}
	for _, c := range []struct {
		word, file string // the word names the file
		counts     bool
	}{
		{"hack/run.sh", "repo/hack/run.sh", true},
		{"./hack/run.sh", "repo/hack/run.sh", true},
		{filepath.Join(dir, "repo", "hack", "run.sh"), "repo/hack/run.sh", true},
		{"hack", "repo/hack/run.sh", true},
		{"./integrations/dns", "repo/integrations/dns/main.go", true},
		{"./integrations/dns", "repo/integrations/dns/more.go", true},
		{"./integrations/dns", "repo/integrations/quay/main.go", false},
		{"hack/link.sh", "outside.sh", false},
		{"hack/run.sh", "repo/integrations/dns/main.go", false},
	} {
		before := of("go", c.word)
		write(c.file, "of "+c.word)
		if after := of("go", c.word); (before != after) != c.counts {
			t.Errorf("%s changed: %s was %q, is %q", c.file, c.word, before, after)
		}
	}
	if got := of("hack/run.sh", "integrations/dns"); got == of("integrations/dns", "hack/run.sh") || got == of("hack/run.sh") {
		t.Errorf("words do not count: %q", got)
	}
}
