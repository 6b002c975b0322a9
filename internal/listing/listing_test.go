package listing

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"
)

// A memory is a Memory that counts.
type memory struct {
	kept    map[string][]byte
	written int
}

func (m *memory) Recall(key string) ([]byte, bool) { raw, ok := m.kept[key]; return raw, ok }

func (m *memory) Remember(key string, raw []byte) { m.kept[key] = raw; m.written++ }

// names lists a folder.
func names(t *testing.T, dir string, m Memory) []string {
	t.Helper()
	found, err := List(t.Context(), dir, m)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range found {
		out = append(out, fmt.Sprint(e.Type, " ", e.Name))
	}
	slices.Sort(out)
	return out
}

// remember remembers all names below a folder, although it changed just now: it sets the
// times of the folders back, so that each change afterwards gives another time. It reports
// whether this system remembers at all.
func remember(t *testing.T, dir string, m *memory) bool {
	t.Helper()
	l := lister{ctx: t.Context(), root: dir, seen: map[string]folder{}}
	all := map[string]folder{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if err := os.Chtimes(name, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
			return err
		}
		below, _ := filepath.Rel(dir, name)
		if below = filepath.ToSlash(below); below == "." {
			below = ""
		}
		f, err := l.open(below)
		if err == nil && f.is != (identity{}) {
			all[below] = f
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	m.kept[keyOf(dir)] = encode(all)
	return len(all) > 0
}

// TestListingLaw checks that a listing with a memory equals one without, whatever changes
// in between and whatever is remembered.
func TestListingLaw(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 5))
		dir := t.TempDir()
		change(t, r, dir, 30)
		m := &memory{kept: map[string][]byte{}}
		for range 5 {
			remember(t, dir, m)
			change(t, r, dir, r.IntN(4))
			if got, want := names(t, dir, m), names(t, dir, nil); !slices.Equal(got, want) {
				t.Fatalf("seed %d: got %q, want %q", seed, got, want)
			}
			for key, raw := range m.kept { // damaged bytes
				raw = slices.Clone(raw)
				for range 1 + r.IntN(3) {
					if len(raw) > 0 {
						raw = raw[:r.IntN(len(raw))]
					}
				}
				m.kept[key] = raw
			}
			if got, want := names(t, dir, m), names(t, dir, nil); !slices.Equal(got, want) {
				t.Fatalf("seed %d, damaged: got %q, want %q", seed, got, want)
			}
		}
	}
}

// change makes, moves and removes files and folders.
func change(t *testing.T, r *rand.Rand, dir string, times int) {
	t.Helper()
	any := func() string {
		parts := []string{dir}
		for range 1 + r.IntN(3) {
			parts = append(parts, []string{"a", "b", "c", ".git", "d"}[r.IntN(5)])
		}
		return filepath.Join(parts...)
	}
	for range times {
		switch name := any(); r.IntN(6) {
		case 0:
			_ = os.RemoveAll(name)
		case 1:
			_ = os.Rename(name, any())
		case 2:
			_ = os.Symlink("a", name)
		case 3:
			_ = os.MkdirAll(name, 0o700)
		default:
			_ = os.MkdirAll(filepath.Dir(name), 0o700)
			_ = os.WriteFile(name, nil, 0o600)
		}
	}
}

// TestRemembered checks that folders that did not change are not read again, and that
// nothing is remembered of a folder that changed just now.
func TestRemembered(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("nothing is remembered on this system")
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a"), 0o700); err != nil {
		t.Fatal(err)
	}
	m := &memory{kept: map[string][]byte{}}
	names(t, dir, m)
	for _, raw := range m.kept {
		if all := decode(raw); len(all) > 0 {
			t.Errorf("folders that changed just now are remembered: %v", all)
		}
	}
	if !remember(t, dir, m) {
		t.Fatal("nothing is remembered")
	}
	for key, raw := range m.kept { // a name that is not there shows that the memory is used
		all := decode(raw)
		f := all["a"]
		f.entries = []Entry{{Name: "remembered"}}
		all["a"] = f
		m.kept[key] = encode(all)
	}
	if got := names(t, dir, m); !slices.Equal(got, []string{"---------- a/remembered"}) {
		t.Errorf("got %q", got)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encode(map[string]folder{"": {identity{1, 2, 3, 4}, []Entry{{"a", fs.ModeDir}}}, "a": {}}))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(_ *testing.T, raw []byte) { decode(raw) })
}
