package source

import (
	"os"
	"path/filepath"
	"testing"
)

// What a command names counts with its bytes, and only if it is a file.
func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	of := func(argv ...string) string { return programs(dir)(argv) }
	absolute := write("run.sh", "one")
	write("other.sh", "one")
	for _, argv := range [][]string{nil, {""}, {"."}, {"none.sh"}, {"docker", "run", "--rm", "{config}"}, {os.DevNull}, {dir}} {
		if got := of(argv...); got != "" {
			t.Errorf("%q: got %q", argv, got)
		}
	}
	was := of("run.sh", "--dry-run")
	seen := map[string]bool{"": true}
	for _, argv := range [][]string{{"run.sh", "--dry-run"}, {absolute}, {"./other.sh"}, {"sh", "run.sh", "other.sh"}} {
		if got := of(argv...); seen[got] {
			t.Errorf("%q: got %q, which is not its own", argv, got)
		} else {
			seen[got] = true
		}
	}
	if again := of("run.sh", "--dry-run"); again != was {
		t.Errorf("got %q, then %q", was, again)
	}
	secret := write("secret", "one")
	if err := os.Chmod(secret, 0); err != nil || of("secret") == "" {
		t.Errorf("what cannot be read counts for nothing (%v)", err)
	}
	write("run.sh", "two")
	if now := of("run.sh", "--dry-run"); now == was {
		t.Errorf("the file changed, and the digest is still %q", now)
	}
}
