package state_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/state"
)

func open(t *testing.T) (*state.Dir, string) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "state")
	d, err := state.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	return d, folder
}

func TestOpenRefusesAFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := state.Open(name); err == nil || !strings.Contains(err.Error(), "is not a folder") {
		t.Errorf("got %v", err)
	}
}

// Symbolic links that lead out of the folder are not followed.
func TestHostile(t *testing.T) {
	d, folder := open(t)
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "x"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(folder, "link")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if raw, err := d.Read(t.Context(), "link/x"); err == nil {
		t.Errorf("read %q through a link", raw)
	}
	update := d.Update(t.Context(), "link/y", func([]byte) ([]byte, error) { return []byte("y"), nil })
	if d.Write(t.Context(), "link/y", []byte("y")) == nil || update == nil {
		t.Error("wrote through a link")
	}
	if list, err := d.List(t.Context(), ""); err != nil || len(list) != 0 {
		t.Errorf("listed %v, %v through a link", list, err)
	}
	if err := os.Mkdir(filepath.Join(folder, "folder"), 0o750); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Read(t.Context(), "folder"); err == nil ||
		err.Error() != `reading "folder" in the state: it is not a file` {
		t.Errorf("a folder as a document: %v", err)
	}
}

// What is no key and what is too large is told.
func TestRefusals(t *testing.T) {
	s, _ := open(t)
	long := strings.Repeat("a", 200)
	if err := s.Write(t.Context(), long, nil); err != nil {
		t.Errorf("a key of 200 characters: %v", err)
	}
	for _, key := range []string{"", "A", "a//b", "/a", "a/", ".a", "a/.b", "a b", long + "a"} {
		if err := s.Write(t.Context(), key, nil); err == nil ||
			!strings.HasSuffix(err.Error(), fmt.Sprintf("%q is not a key of the state", key)) {
			t.Errorf("%q: got %v", key, err)
		}
	}
}

func TestName(t *testing.T) {
	if state.Name("ab", "c") == state.Name("a", "bc") {
		t.Error("other texts have the same name")
	}
	if got := state.Name("../../etc", "\x00"); len(got) != 32 {
		t.Errorf("got %q", got)
	}
}
