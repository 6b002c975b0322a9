package world

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestDamage changes a kept tree in many ways. Each is found, and the tree is made anew.
func TestDamage(t *testing.T) {
	r := variedRepository(t)
	tree, want := r.commitTree("HEAD"), r.checkout("HEAD")
	long := time.Now().Add(-time.Hour)
	for name, harm := range map[string]func(dir string) error{
		"changed bytes": func(dir string) error { return rewrite(dir+"/files/a.txt", "b\n") },
		"changed bytes, old time": func(dir string) error {
			if err := rewrite(dir+"/files/a.txt", "b\n"); err != nil {
				return err
			}
			return os.Chtimes(dir+"/files/a.txt", long, long)
		},
		"replaced": func(dir string) error {
			return os.Rename(dir+"/files/a0", dir+"/files/a.txt")
		},
		"mode":              func(dir string) error { return os.Chmod(dir+"/files/a.txt", 0o644) },
		"executable":        func(dir string) error { return os.Chmod(dir+"/files/a.txt", 0o555) },
		"missing":           func(dir string) error { return os.Remove(dir + "/files/a.txt") },
		"missing link":      func(dir string) error { return os.Remove(dir + "/files/broken") },
		"other link":        func(dir string) error { return relink(dir+"/files/broken", "elsewhere") },
		"link for a file":   func(dir string) error { return relink(dir+"/files/a.txt", "a0") },
		"link for a folder": func(dir string) error { return moveAside(dir+"/files/deep", dir+"/deep") },
		"additional":        func(dir string) error { return os.WriteFile(dir+"/files/deep/er/more", nil, 0o444) },
		"additional folder": func(dir string) error { return os.Mkdir(dir+"/files/deep/er/more", 0o755) },
		"folder's mode":     func(dir string) error { return os.Chmod(dir+"/files/deep", 0o700) },
		"no manifest":       func(dir string) error { return os.Remove(dir + "/manifest") },
		"short manifest":    func(dir string) error { return os.Truncate(dir+"/manifest", 100) },
		"other manifest":    func(dir string) error { return rewrite(dir+"/manifest", "prcheck world 1 x\n") },
		"no lock":           func(dir string) error { return os.Remove(dir + "/lock") },
		"open to others":    func(dir string) error { return os.Chmod(dir, 0o755) },
		"link to a folder":  func(dir string) error { return moveAside(dir, dir+"-moved") },
		"wrong key": func(dir string) error {
			raw, err := os.ReadFile(dir + "/manifest")
			if err != nil {
				return err
			}
			return rewrite(dir+"/manifest", strings.Replace(string(raw), tree.key()[:8], "01234567", 1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := keeper(t)
			kept, err := k.Keep(t.Context(), tree)
			must(t, err)
			must(t, kept.Close())
			must(t, harm(kept.dir))
			again := keep(t, k, tree)
			if got := onDisk(t, again.Folder()); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			third := keep(t, k, tree)
			if got := onDisk(t, third.Folder()); got != want {
				t.Errorf("once more: got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// rewrite writes a file in place, whatever its mode.
func rewrite(name, text string) error {
	if err := os.Chmod(name, 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Chmod(name, 0o444)
}

func relink(name, text string) error {
	if err := os.Remove(name); err != nil {
		return err
	}
	return os.Symlink(text, name)
}

// moveAside moves a folder and leaves a link to it.
func moveAside(name, to string) error {
	if err := os.Rename(name, to); err != nil {
		return err
	}
	return os.Symlink(to, name)
}

// TestManifestBytes damages single bytes of a manifest.
func TestManifestBytes(t *testing.T) {
	k := keeper(t)
	tree := variedRepository(t).commitTree("HEAD")
	kept := keep(t, k, tree)
	name := filepath.Join(kept.dir, "manifest")
	raw, err := os.ReadFile(name)
	must(t, err)
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		bad := append([]byte(nil), raw...)
		bad[rnd.IntN(len(bad))] ^= byte(1 + rnd.IntN(255))
		must(t, os.WriteFile(name, bad, 0o600))
		if _, err := readManifest(kept.dir, tree.key()); err == nil {
			t.Fatal("a damaged manifest was read")
		}
	}
}

// TestDifferenceLaw edits a repository at random. A tree that is made by difference is the one that is made from
// nothing.
func TestDifferenceLaw(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for seed := range 6 {
		r, k := variedRepository(t), keeper(t)
		keep(t, k, r.commitTree("HEAD"))
		for step := range 6 {
			for range 5 {
				names := []string{"a.txt", "a/b", "new", "deep/x", "link", "a.d/x/y", fmt.Sprint("n", rnd.IntN(9))}
				name := names[rnd.IntN(len(names))]
				switch rnd.IntN(4) {
				case 0:
					_ = os.RemoveAll(filepath.Join(r.dir, name))
				case 1:
					_ = os.RemoveAll(filepath.Join(r.dir, name))
					_ = os.Symlink("a.txt", filepath.Join(r.dir, name))
				default:
					at := filepath.Join(r.dir, name)
					if os.MkdirAll(filepath.Dir(at), 0o755) == nil {
						_ = os.WriteFile(at, []byte(fmt.Sprint(rnd.IntN(3))), 0o644)
						_ = os.Chmod(at, []os.FileMode{0o644, 0o755}[rnd.IntN(2)])
					}
				}
			}
			tree := r.workTree(WorkTreeOptions{Keeper: k})
			if rnd.IntN(2) == 0 {
				r.commit()
				tree = r.commitTree("HEAD")
			}
			got := onDisk(t, keep(t, k, tree).Folder())
			fresh := keeper(t)
			if want := onDisk(t, keep(t, fresh, tree).Folder()); got != want {
				t.Fatalf("seed %d, step %d: got\n%s\nwant\n%s", seed, step, got, want)
			}
			if tree.isCommit {
				if want := r.checkout("HEAD"); got != want {
					t.Fatalf("seed %d, step %d: got\n%s\nwant\n%s", seed, step, got, want)
				}
			}
		}
	}
}

// TestEviction keeps more than fits. What is in use stays.
func TestEviction(t *testing.T) {
	r, k := variedRepository(t), keeper(t)
	k.MaxBytes = 300 << 10
	first := keep(t, k, r.commitTree("HEAD"))
	for i := range 8 {
		r.write("large", strings.Repeat(fmt.Sprint(i), 100<<10))
		r.commit()
		kept, err := k.Keep(t.Context(), r.commitTree("HEAD"))
		must(t, err)
		must(t, kept.Close())
	}
	if trees, bytes := Usage(k.Dir); bytes > k.MaxBytes || trees < 2 || trees > 4 {
		t.Errorf("got %d trees of %d bytes", trees, bytes)
	}
	must(t, first.check())
}
