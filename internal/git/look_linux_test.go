package git

import (
	"path/filepath"
	"testing"
)

// TestIsUnchanged changes each thing that git remembers of a file. A file that was modified when the index was written
// can have changed afterwards, within the same tick of the clock.
func TestIsUnchanged(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.txt", "one")
	is, ok := statOf(filepath.Join(dir, "a.txt"))
	if !ok {
		t.Fatal("the file has no stat")
	}
	later := stamp{is.modified.seconds, is.modified.nanoseconds + 1}
	if l := (look{dir, later}); !l.isUnchanged(indexEntry{path: "a.txt", stat: is}) {
		t.Error("the file counts as changed")
	}
	for name, written := range map[string]stamp{"at once": is.modified,
		"before": {is.modified.seconds - 1, is.modified.nanoseconds}, "never": {}} {
		if l := (look{dir, written}); l.isUnchanged(indexEntry{path: "a.txt", stat: is}) {
			t.Errorf("%s: the file counts as unchanged", name)
		}
	}
	for name, change := range map[string]func(s *fileStat){
		"flags": func(s *fileStat) { s.isPlain = false }, "size": func(s *fileStat) { s.size++ },
		"change":       func(s *fileStat) { s.changed.nanoseconds++ },
		"modification": func(s *fileStat) { s.modified.seconds-- },
		"device":       func(s *fileStat) { s.device++ }, "inode": func(s *fileStat) { s.inode++ },
		"user": func(s *fileStat) { s.user++ }, "group": func(s *fileStat) { s.group++ },
	} {
		other := is
		change(&other)
		if l := (look{dir, later}); l.isUnchanged(indexEntry{path: "a.txt", stat: other}) {
			t.Errorf("%s: the file counts as unchanged", name)
		}
	}
}

// TestEmptyIsChanged makes a file empty of which git has noted the size 0, since it had changed within one tick of the
// clock. On a file system that counts seconds this is easy.
func TestEmptyIsChanged(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.txt", "")
	is, ok := statOf(filepath.Join(dir, "a.txt"))
	later := stamp{is.modified.seconds + 1, 0}
	entry := indexEntry{path: "a.txt", id: "f2ba8f84ab5c1bce84a7b441cb1959cfc7093b7f", stat: is} // of "abc"
	if l := (look{dir, later}); !ok || l.isUnchanged(entry) {
		t.Error("an empty file counts as unchanged")
	}
}

// TestReadStat reads what git prints, and texts that it does not print.
func TestReadStat(t *testing.T) {
	const text = "  ctime: 1:2\n  mtime: 3:4\n  dev: 5\tino: 6\n  uid: 7\tgid: 8\n  size: 9\tflags: "
	want := fileStat{true, false, stamp{1, 2}, stamp{3, 4}, 5, 6, 7, 8, 9}
	if got, rest, ok := readStat(text + "0\nrest"); !ok || rest != "rest" || got != want {
		t.Errorf("got %+v, %q, %v", got, rest, ok)
	}
	if got, _, ok := readStat(text + "20004000\n"); !ok || got.isPlain {
		t.Errorf("got %+v, %v of an announced file", got, ok)
	}
	for i := range text {
		if _, _, ok := readStat(text[:i]); ok {
			t.Errorf("%q was read", text[:i])
		}
	}
}
