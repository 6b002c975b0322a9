package bundler_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundler"
)

// pinnedWorkTree pins the working tree in a folder.
func pinnedWorkTree(t *testing.T, dir string) (bundler.Input, string) {
	t.Helper()
	in, key, err := bundler.Pin(t.Context(), newInput(bundler.OpenWorkTree(t.Context(), dir, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return in, key
}

// TestPinnedLaw makes random edits in a working tree. Its key is the same if and only if its
// bundle is.
func TestPinnedLaw(t *testing.T) {
	dir := writeFiles(t, shopFiles())
	writeFile(t, filepath.Join(dir, "resources/e.txt"), "another link leads here\n")
	commitAll(t, dir)
	r := rand.New(rand.NewPCG(1, 8))
	bundles, keys := map[string][]byte{}, map[string]string{}
	again := 0
	for step := range 80 {
		name := filepath.Join(dir, []string{"data/a.yml", "data/teams/b.yml", "resources/c.txt",
			"resources/d.txt"}[r.IntN(4)])
		_ = os.Remove(name)
		switch n := r.IntN(6); {
		case n < 4:
			writeFile(t, name, fmt.Sprintf("a: %d\n", n/2))
		case filepath.Base(name) == "d.txt":
			if err := os.Symlink([]string{"c.txt", "e.txt"}[n-4], name); err != nil {
				t.Fatal(err)
			}
		}
		if hasLink(dir) {
			writeFile(t, filepath.Join(dir, "resources/c.txt"), "a link leads here\n")
		}
		if r.IntN(10) == 0 {
			commitAll(t, writeAndReturn(t, dir, step))
		}
		want := makeBundle(t, newInput(bundler.Folder(dir)), bundler.Options{})
		in, key := pinnedWorkTree(t, dir)
		if got := makeBundle(t, in, bundler.Options{}); !bytes.Equal(got, want) {
			t.Fatalf("step %d: got  %s\nwant %s", step, got, want)
		}
		if known, ok := bundles[key]; ok {
			again++
			if !bytes.Equal(known, want) {
				t.Fatalf("step %d: two bundles have one key:\n%s\n%s", step, known, want)
			}
		}
		if other, ok := keys[string(want)]; ok && other != key && !hasLink(dir) {
			t.Errorf("step %d: a bundle has two keys", step)
		}
		bundles[key] = want
		if !hasLink(dir) { // a link and a copy have one bundle
			keys[string(want)] = key
		}
	}
	if again < 5 {
		t.Errorf("only %d keys came again", again)
	}
}

// writeAndReturn writes a file that is no part of the bundle, so that there is something to commit.
func writeAndReturn(t *testing.T, dir string, step int) string {
	t.Helper()
	writeFile(t, filepath.Join(dir, "notes.txt"), fmt.Sprint(step))
	return dir
}

// hasLink reports whether d.txt is a link.
func hasLink(dir string) bool {
	_, err := os.Readlink(filepath.Join(dir, "resources/d.txt"))
	return err == nil
}

// TestPinnedNoticesChanges changes files after they were pinned: one that git knows, and one
// that it does not know.
func TestPinnedNoticesChanges(t *testing.T) {
	for name, text := range map[string]string{"data/teams/red.yml": "$schema: /team.yml\nname: green\n",
		"data/new.yml": "a: 2\n", "schemas/user.yml": "$schema: /metaschema-1.json\nproperties: {x: {}}\n",
		"graphql/schema.yml": "confs: []\n"} {
		dir := writeFiles(t, shopFiles())
		commitAll(t, dir)
		writeFile(t, filepath.Join(dir, "data/new.yml"), "a: 1\n")
		in, key := pinnedWorkTree(t, dir)
		writeFile(t, filepath.Join(dir, filepath.FromSlash(name)), text)
		b, _, err := bundler.Make(t.Context(), in, bundler.Options{})
		if !errors.Is(err, bundler.ErrChanged) {
			t.Errorf("%s: got %v", name, err)
		}
		if err == nil {
			b.Close()
		}
		if _, other := pinnedWorkTree(t, dir); key == "" || other == key {
			t.Errorf("%s: got the key %q before and after", name, key)
		}
	}
}

// TestPinnedWithoutGit checks that a folder of which git knows nothing is pinned only if it has
// few files, and that a commit stays as it is.
func TestPinnedWithoutGit(t *testing.T) {
	dir := writeFiles(t, shopFiles())
	if _, key := pinnedWorkTree(t, dir); key == "" {
		t.Error("a small folder has no key")
	}
	for i := range 1001 {
		writeFile(t, filepath.Join(dir, fmt.Sprintf("data/%d.yml", i)), "a: 1\n")
	}
	in, key := pinnedWorkTree(t, dir)
	if key != "" {
		t.Error("a large folder has a key")
	}
	makeBundle(t, in, bundler.Options{})
	commitAll(t, dir)
	commit := newInput(openCommit(t, dir, "HEAD"))
	want, err := bundler.Key(t.Context(), commit)
	if _, got, failed := bundler.Pin(t.Context(), commit); got != want || err != nil || failed != nil {
		t.Errorf("of a commit: got %q, %v, want %q, %v", got, failed, want, err)
	}
}

// TestHolds changes a schema outside of a commit and of a working tree after their keys were
// made.
func TestHolds(t *testing.T) {
	dir, outside := writeFiles(t, shopFiles()), writeFiles(t, shopFiles())
	commitAll(t, dir)
	for name, tree := range map[string]bundler.Tree{"commit": openCommit(t, dir, "HEAD"),
		"working tree": bundler.OpenWorkTree(t.Context(), dir, nil)} {
		in := newInput(tree)
		in.Schemas.Tree = bundler.Folder(outside)
		in, key, err := bundler.Pin(t.Context(), in)
		if err != nil || key == "" {
			t.Fatalf("%s: %q, %v", name, key, err)
		}
		if ok, err := bundler.Holds(t.Context(), in, key); !ok || err != nil {
			t.Errorf("%s: before: %v, %v", name, ok, err)
		}
		writeFile(t, filepath.Join(outside, "schemas/user.yml"),
			"$schema: /metaschema-1.json\nproperties: {"+strings.Fields(name)[0]+": {}}\n")
		if ok, err := bundler.Holds(t.Context(), in, key); ok || err != nil {
			t.Errorf("%s: after: %v, %v", name, ok, err)
		}
	}
}
