package source_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/source"
)

// twoRevisions makes a repository whose HEAD changes, adds and removes a datafile.
func twoRevisions(t *testing.T) string {
	t.Helper()
	files := map[string]string{
		"graphql-schemas/schema.yml": "confs:\n- {name: Query, fields: [{name: users, type: User, isList: true, datafileSchema: /user.yml}]}\n- {name: User, fields: [{name: name, type: string}]}\n",
		"schemas/user.yml":           "$schema: /metaschema-1.json\nproperties: {name: {type: string}}\n",
		"resources/motd.txt":         "welcome",
	}
	for i := range 20 {
		files[fmt.Sprintf("data/users/%d.yml",
			i)] = fmt.Sprintf("$schema: /user.yml\nname: user %d\nnext: {$ref: /users/%d.yml}\nmotd: /motd.txt\n", i, (i+1)%20)
	}
	dir := repository(t, files)
	put(t, dir, "data/users/3.yml", "$schema: /user.yml\nname: changed\n")
	put(t, dir, "data/users/new.yml", "$schema: /user.yml\nname: new\n")
	if err := os.Remove(filepath.Join(dir, "data/users/7.yml")); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "data/users/6.yml", "$schema: /user.yml\nname: user 6\n")
	for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "-m", "two"}} {
		args = append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	return dir
}

// pairOf describes both bundles of the two revisions of a repository.
func pairOf(t *testing.T, dir, cache string) string {
	t.Helper()
	return describePair(t, cache, "git:HEAD~1@"+dir, "git:HEAD@"+dir)
}

// describePair describes the bundles of two references.
func describePair(t *testing.T, cache, baseRef, headRef string) string {
	t.Helper()
	base, head, err := source.Opener{Cache: cache}.Pair(t.Context(), baseRef, headRef)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	m := bundle.IndexMentions(base, head)
	for _, b := range []*bundle.Bundle{base, head} {
		fmt.Fprintln(&out, b.SHA256(), b.Commit(), b.Timestamp(), b.ContentsSHA256(), m.DanglingRefs(b))
		for _, f := range b.Datafiles() {
			fmt.Fprintln(&out, f.Path, f.Schema, string(f.Raw()))
			for _, from := range m.Of(f.Path) {
				fmt.Fprintln(&out, "mentioned by", from.Path)
			}
		}
	}
	fmt.Fprintf(&out, "%+v", bundle.Compare(base, head).Schemas)
	return out.String()
}

// TestAnyCache checks that no bytes in the files of the cache change the bundles.
func TestAnyCache(t *testing.T) {
	t.Chdir(t.TempDir()) // there are no settings
	dir := twoRevisions(t)
	want := pairOf(t, dir, "")
	cache := t.TempDir()
	for range 2 { // the second time from the cache
		if got := pairOf(t, dir, cache); got != want {
			t.Fatalf("got %s\nwant %s", got, want)
		}
	}
	good := filesBelow(t, cache)
	names := make([]string, 0, len(good))
	indexes := 0
	for name := range good {
		names = append(names, name)
		if strings.Contains(name, "index-") {
			indexes++
		}
	}
	if indexes != 1 {
		t.Fatalf("the cache has %d indexes, want that of base", indexes)
	}
	foreign := indexBody(t, dir)
	r := rand.New(rand.NewPCG(2, 7))
	for name, text := range good {
		for i, damaged := range append(damages(r, text, good[names[r.IntN(len(names))]]), withSum(text, foreign)) {
			restore(t, cache, good)
			put(t, "/", name, damaged)
			for range 2 {
				if got := pairOf(t, dir, cache); got != want {
					t.Fatalf("%s: damage %d: got %s\nwant %s", name, i, got, want)
				}
			}
		}
	}
}

// TestAnyEdit makes random edits in a working tree, some of them back. The bundles are the same
// with and without the cache.
func TestAnyEdit(t *testing.T) {
	t.Chdir(t.TempDir())
	dir := twoRevisions(t)
	cache := t.TempDir()
	r := rand.New(rand.NewPCG(3, 9))
	for step := range 60 {
		name := []string{"data/users/1.yml", "data/users/2.yml", "data/new.yml", "resources/motd.txt",
			"schemas/user.yml"}[r.IntN(5)]
		switch n := r.IntN(4); {
		case name == "schemas/user.yml":
			put(t, dir, name, fmt.Sprintf("$schema: /metaschema-1.json\nproperties: {name: {type: string}, x%d: {}}\n", n/2))
		case n == 0 && name == "data/new.yml":
			_ = os.Remove(filepath.Join(dir, name))
		default:
			put(t, dir, name, fmt.Sprintf("$schema: /user.yml\nname: %d\n", n))
		}
		want := describePair(t, "", "git:HEAD~1@"+dir, "dir:"+dir)
		for range 2 {
			if got := describePair(t, cache, "git:HEAD~1@"+dir, "dir:"+dir); got != want {
				t.Fatalf("step %d: got %s\nwant %s", step, got, want)
			}
		}
	}
	found := 0
	for name := range filesBelow(t, cache) {
		if strings.Contains(name, "difference-") {
			found++
		}
	}
	if found < 20 || found > 55 {
		t.Errorf("the cache has %d differences, want one for each state of the working tree", found)
	}
}

// damages returns other texts in place of the text of a file; other is the text of another.
func damages(r *rand.Rand, text, other string) []string {
	out := []string{"", text[:len(text)/2], text[1:], text + "x", other, strings.Repeat("\x00", len(text))}
	if strings.HasPrefix(text, "index-") {
		_, body, _ := strings.Cut(text, "\n")
		out = append(out, withSum(text, body[:len(body)/2]), withSum(text, strings.Repeat("{", len(body))),
			withSum(text, "{}\n"+body))
	}
	for range 40 {
		b := []byte(text)
		b[r.IntN(len(b))] ^= byte(1 + r.IntN(255))
		out = append(out, string(b))
	}
	return out
}

// withSum returns another body with the name of a file of the cache and the right sum, if the
// file is an index.
func withSum(text, body string) string {
	name, _, _ := strings.Cut(text, " ")
	if !strings.HasPrefix(name, "index-") {
		return body
	}
	return fmt.Sprintf("%s %x\n%s", name, sha256.Sum256([]byte(body)), body)
}

// indexBody returns the index of the second revision of a repository.
func indexBody(t *testing.T, dir string) string {
	t.Helper()
	cache := t.TempDir()
	if _, _, err := (source.Opener{Cache: cache}).Pair(t.Context(), "git:HEAD@"+dir, "git:HEAD~1@"+dir); err != nil {
		t.Fatal(err)
	}
	for name, text := range filesBelow(t, cache) {
		if strings.Contains(name, "index-") {
			_, body, _ := strings.Cut(text, "\n")
			return body
		}
	}
	t.Fatal("no index was kept")
	return ""
}

// filesBelow returns the texts of all files below a folder.
func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(name)
		out[name] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// restore puts the files of a cache back.
func restore(t *testing.T, cache string, good map[string]string) {
	t.Helper()
	if err := os.RemoveAll(cache); err != nil {
		t.Fatal(err)
	}
	for name, text := range good {
		put(t, "/", name, text)
	}
}
