package state_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

func TestWriteReadRemove(t *testing.T) {
	d, folder := open(t)
	if _, err := d.Read("a/b.json"); !errors.Is(err, state.ErrNotFound) {
		t.Errorf("before the first write: %v", err)
	}
	if list, err := d.List("a"); err != nil || len(list) != 0 {
		t.Errorf("list before the first write: %v, %v", list, err)
	}
	for _, text := range []string{"first", "second"} {
		if err := d.Write("a/b.json", []byte(text)); err != nil {
			t.Fatal(err)
		}
		if raw, err := d.Read("a/b.json"); err != nil || string(raw) != text {
			t.Errorf("got %q, %v, want %q", raw, err, text)
		}
	}
	list, err := d.List("a")
	if err != nil || len(list) != 1 || list[0].Key != "a/b.json" || list[0].Size != 6 {
		t.Errorf("list: %v, %v", list, err)
	}
	left, err := os.ReadDir(filepath.Join(folder, "a"))
	if err != nil || len(left) != 1 {
		t.Errorf("files besides the document: %v, %v", left, err)
	}
	for range 2 { // the second time there is none
		if err := d.Remove("a/b.json"); err != nil {
			t.Error(err)
		}
	}
	if _, err := d.Read("a/b.json"); !errors.Is(err, state.ErrNotFound) {
		t.Errorf("after removal: %v", err)
	}
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

// Keys never lead out of the folder, and links in it are not followed out.
func TestHostile(t *testing.T) {
	d, folder := open(t)
	for _, key := range []string{"", "/a", "../a", "a/../../b", "a//b", "A", "a b", "a\x00", ".hidden", "a/.new", strings.Repeat("a", 201)} {
		if err := d.Write(key, nil); err == nil {
			t.Errorf("key %q was written", key)
		}
		if _, err := d.Read(key); err == nil {
			t.Errorf("key %q was read", key)
		}
	}
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
	if raw, err := d.Read("link/x"); err == nil {
		t.Errorf("read %q through a link", raw)
	}
	if err := d.Write("link/y", []byte("y")); err == nil {
		t.Error("wrote through a link")
	}
	if err := os.Mkdir(filepath.Join(folder, "folder"), 0o750); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Read("folder"); err == nil || !strings.Contains(err.Error(), "not a file") {
		t.Errorf("a folder as a document: %v", err)
	}
}

// Many writers of one key leave one whole document.
func TestConcurrentWriters(t *testing.T) {
	d, folder := open(t)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			doc := bytes.Repeat(fmt.Appendf(nil, "%d", i), 100_000)
			for range 10 {
				if err := d.Write("k/same.json", doc); err != nil {
					t.Error(err)
				}
				raw, err := d.Read("k/same.json")
				if err != nil || len(raw) != 100_000 || bytes.Count(raw, raw[:1]) != len(raw) {
					t.Errorf("read a mixture of %d bytes, %v", len(raw), err)
				}
			}
		})
	}
	wait.Wait()
	left, err := os.ReadDir(filepath.Join(folder, "k"))
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
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
