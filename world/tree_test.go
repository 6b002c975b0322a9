package world

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLookupAndNames(t *testing.T) {
	tree := variedRepository(t).commitTree("HEAD")
	for path, want := range map[string]Kind{"": Folder, ".": Folder, "a": Folder, "a.txt": Regular, "a.d": Folder,
		"a.d/x": Regular, "link": Link,
		"dee": Missing, "deep": Folder, "deep/er/and": Folder, "deep/er/an": Missing, "a.txt/x": Missing,
		"zzz": Missing, "tofolder/x": Missing} {
		if _, got, ok := tree.Lookup(path); got != want || ok != (want != Missing) {
			t.Errorf("%q: got %v, %t, want %v", path, got, ok, want)
		}
	}
	for folder, want := range map[string]string{"a.d": "up x", "deep": "er/", "a": "b", "a.txt": "none", "gone": "none",
		".": "-dash :colon,comma a.d/ a.txt a/ a0 absolute back\\slash broken deep/ line\nbreak link program.sh " +
			"quote\" tofolder with blank/ ünï/ \xff\xfe"} {
		names, ok := tree.Names(folder)
		got := strings.Join(names, " ")
		if !ok {
			got = "none"
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", folder, got, want)
		}
	}
}

func TestResolve(t *testing.T) {
	r := variedRepository(t)
	r.link("loop", "loop")
	r.link("out", "a/../../x")
	r.link("chain", "tofolder/up")
	tree := r.workTree(WorkTreeOptions{})
	for path, want := range map[string]string{
		"a.txt":                 "a.txt: a file",
		"./deep//er/":           "deep/er: a folder",
		".":                     ".: a folder",
		"a/..":                  ".: a folder",
		"..":                    "..: outside",
		"a/../../b":             "../b: outside",
		"/etc":                  "/etc: outside",
		"link":                  "link: a link, a.txt: a file",
		"broken/x":              "broken: a link, nowhere/x: missing",
		"absolute":              "absolute: a link, /etc/hostname: outside",
		"tofolder/x":            "tofolder: a link, a.d/x: a file",
		"tofolder/../a.txt":     "tofolder: a link, a.txt: a file",
		"chain/and/deeper":      "chain: a link, tofolder: a link, a.d/up: a link, deep/er/and/deeper: a file",
		"chain/../../a.txt":     "chain: a link, tofolder: a link, a.d/up: a link, a.txt: a file",
		"out":                   "out: a link, ../x: outside",
		"a.txt/x":               "a.txt/x: missing",
		"gone/../a.txt":         "gone/../a.txt: missing",
		"tofolder/none/x":       "tofolder: a link, a.d/none/x: missing",
		"with blank/../a.d/x/.": "a.d/x/.: missing",
	} {
		var parts []string
		for _, s := range tree.Resolve(path) {
			parts = append(parts, fmt.Sprintf("%s: %v", s.Path, s.Kind))
		}
		if got := strings.Join(parts, ", "); got != want {
			t.Errorf("%q: got %s, want %s", path, got, want)
		}
	}
	if steps := tree.Resolve("loop"); len(steps) != maxLinks+2 || steps[len(steps)-1].Kind != Loop {
		t.Errorf("a loop has %d steps", len(steps))
	}
}

func TestOfFolder(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	r := repository{t, dir}
	r.write("a/b", "b")
	r.write("p", "p")
	r.chmod("p", 0o755)
	r.link("l", "p")
	r.write("cache/x", "x")
	r.write("cache/CACHEDIR.TAG", cacheTag+"\n")
	r.write("left", "x")
	k := keeper(t)
	tree, err := OfFolder(t.Context(), dir, WorkTreeOptions{Keeper: k,
		Leave: func(path string) bool { return path == "left" }})
	must(t, err)
	if !strings.HasPrefix(tree.ID(), "sha256:") || len(tree.Files()) != 3 || tree.Commit() != "" || tree.Root() != dir {
		t.Errorf("got %+v", tree)
	}
	r.write("a/b", "changed")
	kept := keep(t, k, tree)
	want := "\".\" folder\n\"a\" folder\n\"a/b\" false \"b\" <nil>\n\"l\" link \"p\"\n\"p\" true \"p\" <nil>\n"
	for _, kind := range viewKinds(t, kept) {
		v, err := kept.View(t.Context(), ViewOptions{Kind: kind})
		must(t, err)
		if got := runIn(t, v, "cat a/b; ls -A"); got != "ba\nl\np" {
			t.Errorf("%v: got %q", kind, got)
		}
		must(t, v.Close())
	}
	if got := onDisk(t, kept.Folder()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	loose, err := OfFolder(t.Context(), dir, WorkTreeOptions{})
	must(t, err)
	r.write("a/b", "again")
	if _, err := keeper(t).Keep(t.Context(), loose); err == nil ||
		!strings.Contains(err.Error(), `"a/b": the file has changed`) {
		t.Errorf("got %v", err)
	}
}

func TestIgnored(t *testing.T) {
	r := variedRepository(t)
	r.write(".gitignore", "venv\n*.pyc\n__pycache__\nout\nn*/deep\n")
	for _, name := range []string{"venv/bin/x", "m.pyc", "a/__pycache__/m.pyc", "out", "new/deep/x", "a/out"} {
		r.write(name, "")
	}
	got, err := Ignored(t.Context(), r.dir)
	if want := "a/out new/ out venv/"; strings.Join(got, " ") != want || err != nil {
		t.Errorf("got %q, %v, want %s", got, err, want)
	}
}

// TestLinksAreGuarded changes a file of a view that is a hard link. No other world uses it.
func TestLinksAreGuarded(t *testing.T) {
	r, k := variedRepository(t), keeper(t)
	tree := r.commitTree("HEAD")
	kept := keep(t, k, tree)
	v, err := kept.View(t.Context(), ViewOptions{Kind: Links})
	must(t, err)
	if os.Geteuid() != 0 {
		if err := os.WriteFile(v.Root+"/a.txt", []byte("x"), 0o644); err == nil {
			t.Error("a kept file was written")
		}
	}
	must(t, os.Rename(v.Root+"/a0", v.Root+"/program.sh")) // replacing is allowed
	must(t, kept.check())
	must(t, rewrite(v.Root+"/a.txt", "b\n"))
	if err := v.Close(); err == nil || !strings.Contains(err.Error(), `"a.txt"`) {
		t.Errorf("got %v", err)
	}
	if got, want := onDisk(t, keep(t, k, tree).Folder()), r.checkout("HEAD"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
