package bundler_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundler"
)

// TestSameBytes checks that the same files give the same bytes from any tree, with any
// cache and in any order of reading.
func TestSameBytes(t *testing.T) {
	dir := writeFiles(t, shopFiles())
	want := makeBundle(t, newInput(bundler.Folder(dir)), bundler.Options{})
	commitAll(t, dir)
	cache := bundler.OpenCache(t.TempDir())
	for _, c := range []struct {
		name string
		tree bundler.Tree
		opts bundler.Options
	}{
		{"folder, one worker", bundler.Folder(dir), bundler.Options{Workers: 1}},
		{"folder, many workers", bundler.Folder(dir), bundler.Options{Workers: 16}},
		{"commit", openCommit(t, dir, "HEAD"), bundler.Options{}},
		{"working tree", bundler.OpenWorkTree(t.Context(), dir, nil), bundler.Options{}},
		{"folder, empty cache", bundler.Folder(dir), bundler.Options{Cache: cache}},
		{"folder, full cache", bundler.Folder(dir), bundler.Options{Cache: cache}},
		{"commit, full cache", openCommit(t, dir, "HEAD"), bundler.Options{Cache: cache, Workers: 1}},
		{"working tree, full cache", bundler.OpenWorkTree(t.Context(), dir, cache), bundler.Options{Cache: cache}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := makeBundle(t, newInput(c.tree), c.opts); !bytes.Equal(got, want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// TestCacheFollowsEdits checks that after each of many edits, in the folder or the
// index, the bundle is the same with and without a cache. There are more edits than
// segments, so segments are merged too.
func TestCacheFollowsEdits(t *testing.T) {
	dir := writeFiles(t, shopFiles())
	commitAll(t, dir)
	store := t.TempDir()
	for i, edit := range []func(){
		func() {},
		func() { writeFile(t, filepath.Join(dir, "data/teams/red.yml"), "$schema: /team.yml\nname: green\n") },
		func() { writeFile(t, filepath.Join(dir, "data/teams/new.yml"), "$schema: /team.yml\nname: new\n") },
		func() { writeFile(t, filepath.Join(dir, "resources/red.md"), "new\n") },
		func() { os.Remove(filepath.Join(dir, "data/users/bob.json")) },
		func() { commitAll(t, dir) },
		func() {
			writeFile(t, filepath.Join(dir, "schemas/user.yml"), "$schema: /metaschema-1.json\nproperties: {x: {}}\n")
		},
		func() { writeFile(t, filepath.Join(dir, ".gitattributes"), "* text=auto\n") },
		func() { writeFile(t, filepath.Join(dir, "data/teams/new.yml"), "$schema: /team.yml\r\nname: new\r\n") },
		func() { commitAll(t, dir) },
		func() {
			os.Rename(filepath.Join(dir, "data/users/ana.yaml"), filepath.Join(dir, "data/users/ana.json"))
		},
		func() { writeFile(t, filepath.Join(dir, "data/users/ana.json"), `{"$schema": "/user.yml"}`) },
		func() { writeFile(t, filepath.Join(dir, "graphql/schema.yml"), "confs: []\n") },
		func() { writeFile(t, filepath.Join(dir, "data/a.yml"), "a: 1\n") },
		func() { writeFile(t, filepath.Join(dir, "data/b.yml"), "a: 2\n") },
		func() { writeFile(t, filepath.Join(dir, "data/c.yml"), "a: 3\n") },
	} {
		if edit(); i == 10 {
			continue // ana is no JSON now
		}
		want := makeBundle(t, newInput(bundler.Folder(dir)), bundler.Options{})
		for range 2 {
			tree := bundler.OpenWorkTree(t.Context(), dir, nil)
			if got := makeBundle(t, newInput(tree), bundler.Options{Cache: bundler.OpenCache(store)}); !bytes.Equal(got, want) {
				t.Fatalf("after edit %d:\ngot  %s\nwant %s", i, got, want)
			}
		}
	}
}

// TestCorruptCache checks that damaged files of a cache are ignored.
func TestCorruptCache(t *testing.T) {
	dir := writeFiles(t, shopFiles())
	commitAll(t, dir)
	in := newInput(openCommit(t, dir, "HEAD"))
	want := makeBundle(t, in, bundler.Options{})
	for _, c := range []struct {
		name  string
		spoil func(raw []byte) []byte
	}{
		{"empty", func([]byte) []byte { return nil }},
		{"cut", func(raw []byte) []byte { return raw[:len(raw)/2] }},
		{"foreign", func([]byte) []byte { return []byte(strings.Repeat("something else\n", 100)) }},
		{"first byte", func(raw []byte) []byte { raw[0]++; return raw }},
		{"a byte of a text", func(raw []byte) []byte { raw[100]++; return raw }},
		{"every eighth byte", func(raw []byte) []byte {
			for i := 0; i < len(raw); i += 8 {
				raw[i] ^= 0x20
			}
			return raw
		}},
		{"last byte", func(raw []byte) []byte { raw[len(raw)-1]++; return raw }},
		{"offset of the index", func(raw []byte) []byte { raw[len(raw)-36] = 0xff; return raw }},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := t.TempDir()
			makeBundle(t, in, bundler.Options{Cache: bundler.OpenCache(store)})
			spoiled := 0
			err := filepath.WalkDir(store, func(name string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				raw, err := os.ReadFile(name)
				spoiled++
				return errors.Join(err, os.WriteFile(name, c.spoil(raw), 0o600))
			})
			if err != nil || spoiled == 0 {
				t.Fatalf("%d files, %v", spoiled, err)
			}
			for range 2 { // it is mended by the first
				if got := makeBundle(t, in, bundler.Options{Cache: bundler.OpenCache(store)}); !bytes.Equal(got, want) {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			}
		})
	}
}

// TestCacheInMissingFolder checks that a cache whose folder cannot be made is ignored.
func TestCacheInMissingFolder(t *testing.T) {
	dir := writeFiles(t, shopFiles())
	in := newInput(bundler.Folder(dir))
	want := makeBundle(t, in, bundler.Options{})
	nowhere := filepath.Join(dir, "data/notes.txt", "cache")
	if got := makeBundle(t, in, bundler.Options{Cache: bundler.OpenCache(nowhere)}); !bytes.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestKeptBundle(t *testing.T) {
	dir := writeFiles(t, shopFiles())
	commitAll(t, dir)
	in := newInput(openCommit(t, dir, "HEAD"))
	key, err := bundler.Key(t.Context(), in)
	if err != nil || key == "" {
		t.Fatalf("got the key %q, %v", key, err)
	}
	if other, err := bundler.Key(t.Context(), newInput(bundler.Folder(dir))); other != "" || err != nil {
		t.Errorf("a folder has the key %q, %v", other, err)
	}
	writeFile(t, filepath.Join(dir, "schemas/user.yml"), "$schema: /x\n")
	commitAll(t, dir)
	if other, err := bundler.Key(t.Context(), newInput(openCommit(t, dir, "HEAD"))); other == key || err != nil {
		t.Errorf("another commit has the same key, %v", err)
	}
	cache := bundler.OpenCache(t.TempDir())
	if _, _, ok := cache.Bundle(key); ok {
		t.Error("an empty cache has a bundle")
	}
	cache.KeepBundle(key, []byte("{}\n"))
	raw, sum, ok := cache.Bundle(key)
	if string(raw) != "{}\n" || sum != "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356" || !ok {
		t.Errorf("got %q, %s, %t", raw, sum, ok)
	}
}

// TestDamagedBundle checks that no damaged file of the cache is taken for a bundle.
func TestDamagedBundle(t *testing.T) {
	dir := t.TempDir()
	cache := bundler.OpenCache(dir)
	cache.KeepBundle("key", []byte("{}\n"))
	names, _ := filepath.Glob(filepath.Join(dir, "*", "key.json"))
	if len(names) != 1 {
		t.Fatalf("the cache has %q", names)
	}
	whole, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		damaged := slices.Clone(whole)
		damaged[i] ^= 1
		for _, text := range [][]byte{damaged, whole[:i]} {
			writeFile(t, names[0], string(text))
			if raw, _, ok := cache.Bundle("key"); ok {
				t.Errorf("%q was taken for the bundle %q", text, raw)
			}
		}
	}
	writeFile(t, names[0], string(whole))
	if _, _, ok := cache.Bundle("key"); !ok {
		t.Error("the undamaged file was not taken")
	}
}

// TestOddFiles checks that only regular files and links within the folder are accepted.
func TestOddFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs links and pipes")
	}
	dir := writeFiles(t, shopFiles())
	outside := filepath.Join(t.TempDir(), "secret.yml")
	writeFile(t, outside, "password: x\n")
	link := func(target, name string) {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("ana.yaml", "data/users/link.yml")
	link("users/link.yml", "data/chain.yml")
	link("teams", "data/folder")
	want := makeBundle(t, newInput(bundler.Folder(dir)), bundler.Options{})
	for _, path := range []string{`"/chain.yml":{"$file`, `"/users/link.yml":{"$file`} {
		if !bytes.Contains(want, []byte(path)) {
			t.Errorf("%s is not in %s", path, want)
		}
	}
	commitAll(t, dir)
	if got := makeBundle(t, newInput(openCommit(t, dir, "HEAD")), bundler.Options{}); !bytes.Equal(got, want) {
		t.Errorf("of the commit:\ngot  %s\nwant %s", got, want)
	}

	link(outside, "data/absolute.yml")
	link("../../../../../../etc/passwd", "data/up.yml")
	link("../resources/red.md", "data/sideways.yml")
	link("loop.yml", "data/loop.yml")
	link("nothing.yml", "data/dangling.yml")
	link("../data", "resources/data")
	commitAll(t, dir)
	expected := []string{}
	for _, name := range []string{"data/absolute.yml", "data/dangling.yml", "data/loop.yml", "data/sideways.yml",
		"data/up.yml", "resources/data"} {
		folder, _, _ := strings.Cut(name, "/")
		expected = append(expected,
			name+": is a link inside of "+folder+": only files, and links to files of that folder, can be bundled")
	}
	checkProblems(t, newInput(bundler.Folder(dir)), expected...)
	checkProblems(t, newInput(openCommit(t, dir, "HEAD")), expected...)
}

// checkProblems checks that Make returns exactly these problems.
func checkProblems(t *testing.T, in bundler.Input, want ...string) {
	t.Helper()
	_, found, err := bundler.Make(t.Context(), in, bundler.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range found {
		got = append(got, p.Error())
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}
