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
	of := func(words ...string) string {
		t.Helper()
		digest, err := Programs(settings)(words)
		if err != nil {
			t.Errorf("%q: %v", words, err)
		}
		return digest
	}
	write("repo/hack/run.sh", "1")
	write("repo/integrations/dns/main.go", "1")
	write("repo/integrations/quay/main.go", "1")
	write("outside.sh", "1")
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

// What cannot be looked at is a doubt, and what lies in the repository is a part of
// the command also when tasks start below it.
func TestProgramsInDoubt(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	settings := &integration.Settings{File: at("repo/ci/prcheck.yaml")}
	write("repo/ci/run.sh", "1")
	write("repo/hack/run.sh", "1")
	write("repo/linked/run.sh", "1")
	write("outside.sh", "1")
	below, err := Programs(settings)([]string{"../hack/run.sh"})
	if err != nil || below != "" {
		t.Errorf("outside of what may be read: got %q, %v", below, err)
	}
	write("repo/.git/HEAD", "ref: refs/heads/main")
	if below, err = Programs(settings)([]string{"../hack/run.sh"}); err != nil || below == "" {
		t.Errorf("in the repository: got %q, %v", below, err)
	}
	write("repo/hack/run.sh", "2")
	if now, err := Programs(settings)([]string{"../hack/run.sh"}); err != nil || now == below {
		t.Errorf("it changed: got %q again, %v", now, err)
	}
	if err := os.Symlink("../../outside.sh", at("repo/linked/out.sh")); err != nil {
		t.Skip("links cannot be made here: ", err)
	}
	if err := os.Symlink("nowhere", at("repo/hack/gone")); err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]bool{"../linked/out.sh": true, "../linked": true, "../linked/run.sh": false, "../hack": false, "../../outside.sh": false, "run.sh": false} {
		if digest, err := Programs(settings)([]string{"go", word}); (err != nil) != want || err != nil && digest != "" {
			t.Errorf("%s: got %q, %v, want a doubt: %v", word, digest, err, want)
		}
	}
}
