package source_test

import (
	"errors"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/source"
)

// repository makes a repository with one commit of these files.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := fill(t, files)
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-q", "-m", "one"}} {
		args = append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	return dir
}

func TestParseRevision(t *testing.T) {
	for ref, want := range map[string][2]string{
		"git:main": {"main", "."}, "git:main@../x": {"main", "../x"}, "git:HEAD@{1}": {"HEAD@{1}", "."},
		"git:HEAD@{1}@/a": {"HEAD@{1}", "/a"},
		"git:@":           {"@", "."}, "git:v1@": {"v1@", "."},
	} {
		if revision, dir, ok := source.ParseRevision(ref); revision != want[0] || dir != want[1] || !ok {
			t.Errorf("%s: got %q, %q, %v, want %q", ref, revision, dir, ok, want)
		}
	}
	if _, _, ok := source.ParseRevision("dir:main"); ok {
		t.Error("a folder is a revision")
	}
}

// Settings in a subfolder name parts of the checkout by a path that leads out of that folder. Each
// side has its own.
func TestSectionsBesideSettings(t *testing.T) {
	files := map[string]string{
		"ci/prcheck.yaml": "version: 1\ncheckout: {schemas: ../schemas, graphql: ../types.yml}\n",
		"data/a.yml":      "$schema: /a.yml\n", "schemas/a.yml": "$schema: /metaschema-1.json\nproperties: {}\n",
		"types.yml": "- {name: A, fields: [{name: a, type: string}]}\n",
	}
	dir := repository(t, files)
	put(t, dir, "types.yml", "- {name: B, fields: [{name: a, type: string}]}\n")
	put(t, dir, "schemas/a.yml", "$schema: /metaschema-1.json\nproperties: {b: {type: string}}\n")
	settings, err := source.ReadSettings(filepath.Join(dir, "ci", "prcheck.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	base, head, err := source.Opener{Settings: settings}.Pair(t.Context(), "git:HEAD@"+dir, "dir:"+dir)
	if err != nil {
		t.Fatal(err)
	}
	d := bundle.Compare(base, head)
	if !slices.Equal(d.GraphQL, []string{"A", "B"}) || !slices.Equal(d.Schemas, []bundle.Path{"/a.yml"}) {
		t.Errorf("got types %q and schemas %q", d.GraphQL, d.Schemas)
	}
}

// Files of head are read from the working tree or the commit, whichever head is, and the
// files of base from its commit. No link leads out.
func TestCompare(t *testing.T) {
	dir := repository(t, map[string]string{"a.txt": "base", "b.txt": "b"})
	other := repository(t, map[string]string{"a.txt": "base"})
	secret := fill(t, map[string]string{"secret.txt": "secret"})
	put(t, dir, "a.txt", "head")
	link(t, filepath.Join(secret, "secret.txt"), filepath.Join(dir, "link.txt"))

	c, err := source.Compare(t.Context(), "git:HEAD@"+dir, "dir:"+dir, "")
	if err != nil || c == nil {
		t.Fatal(c, err)
	}
	if want := []string{"a.txt", "link.txt"}; !slices.Equal(c.Changed, want) {
		t.Errorf("got %q, want %q", c.Changed, want)
	}
	for _, f := range []struct {
		read func(string) ([]byte, error)
		name string
		want string
	}{{c.ReadBase, "a.txt", "base"}, {c.ReadHead, "a.txt", "head"}, {c.ReadHead, "b.txt", "b"},
		{c.ReadHead, "link.txt", ""}, {c.ReadHead, "../secret.txt", ""}} {
		if raw, err := f.read(f.name); string(raw) != f.want || (err == nil) != (f.want != "") {
			t.Errorf("%s: got %q, %v, want %q", f.name, raw, err, f.want)
		}
	}
	for _, read := range []func(string) ([]byte, error){c.ReadBase, c.ReadHead} {
		if _, err := read("none"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v, want fs.ErrNotExist", err)
		}
	}
	if c, err = source.Compare(t.Context(), "git:HEAD@"+dir, "git:HEAD@"+dir, ""); err != nil || len(c.Changed) > 0 {
		t.Errorf("got %v, %v, want nothing changed", c, err)
	}
	if raw, err := c.ReadHead("a.txt"); string(raw) != "base" || err != nil {
		t.Errorf("of the commit: got %q, %v", raw, err)
	}
	for _, refs := range [][3]string{
		{"git:HEAD@" + dir, "dir:" + other, ""}, {"git:HEAD@" + dir, "git:HEAD@" + other, ""},
		{"dir:" + dir, "dir:" + dir, ""},
		{"base.json", "dir:" + dir, ""}, {"git:HEAD@" + dir, "head.json", ""}, {"git:HEAD@" + dir, "dir:" + dir, other},
	} {
		if c, err := source.Compare(t.Context(), refs[0], refs[1], refs[2]); c != nil || err != nil {
			t.Errorf("%q: got %v, %v, want nothing", refs, c, err)
		}
	}
	if _, err := source.Compare(t.Context(), "git:none@"+dir, "dir:"+dir, ""); err == nil {
		t.Error("compared with a revision that does not exist")
	}
}
