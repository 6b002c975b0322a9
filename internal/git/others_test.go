package git

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestListOthersLaw checks that git says the same when it is asked only about names that the
// index does not have as when it looks at all folders.
func TestListOthersLaw(t *testing.T) {
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 8))
		dir := commitAll(t, map[string]string{".gitignore": "ignored\n*.tmp\n!keep.tmp\n", "a/.gitignore": "b\n",
			"a/x": "", "a/b/x": "", "d/x": ""})
		scatter(t, r, dir)
		if r.IntN(2) == 0 {
			runGit(t, dir, "add", "-A", ".")
			scatter(t, r, dir)
		}
		index, err := readEntries(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		want, err := listOthers(t.Context(), dir, index, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := listOthers(t.Context(), dir, index, func() ([]string, error) { return namesBelow(dir) })
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("seed %d: got %q, want %q", seed, got, want)
		}
	}
}

// scatter makes and removes files, links and repositories.
func scatter(t *testing.T, r *rand.Rand, dir string) {
	t.Helper()
	for range 12 {
		parts := []string{dir}
		for range 1 + r.IntN(3) {
			parts = append(parts, []string{"a", "b", "d", "x", "ignored", "y.tmp", "keep.tmp", "new", ":x"}[r.IntN(9)])
		}
		name := filepath.Join(parts...)
		switch r.IntN(8) {
		case 0:
			_ = os.RemoveAll(name)
		case 1:
			_ = os.RemoveAll(name)
			_ = os.Symlink("a", name)
		case 2:
			if os.MkdirAll(name, 0o700) == nil && r.IntN(2) == 0 {
				runGit(t, name, "init", "-q")
				_ = os.WriteFile(filepath.Join(name, "inner"), nil, 0o600)
				runGit(t, name, "add", "inner")
				runGit(t, name, "commit", "-q", "-m", "inner")
			}
		default:
			_ = os.MkdirAll(filepath.Dir(name), 0o700)
			_ = os.WriteFile(name, nil, 0o600)
		}
	}
}

// namesBelow lists the names of all entries that are no folders, except those in .git.
func namesBelow(dir string) (out []string, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == ".git" {
			return errOr(err, fs.SkipDir)
		}
		if below, _ := filepath.Rel(dir, name); !d.IsDir() {
			out = append(out, filepath.ToSlash(below))
		}
		return nil
	})
	return out, err
}

// errOr returns an error, or another one when there is none.
func errOr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}
