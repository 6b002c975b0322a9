package bundler_test

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundler"
)

// TestAllProblems checks that the problems of all files are found in one go, in the
// order of the files.
func TestAllProblems(t *testing.T) {
	files := shopFiles()
	for name, text := range map[string]string{
		"data/1-list.yml":     "- a\n",
		"data/2-text.yml":     "just words\n",
		"data/3-key.yml":      "$schema: /user.yml\n1: a\n",
		"data/4-reserved.yml": "$schema: /user.yml\n__identifier: x\n",
		"data/5-schema.yml":   "$schema: [a]\n",
		"data/6-json.json":    "{\"a\": 1,}\n",
		"data/7\xff.yml":      "a: 1\n",
		"data/8\n.yml":        "a: b: c\n",
		"resources/bin":       "ok\n\xff\xfe",
		"schemas/list.yml":    "[]\n",
		"schemas/none.yml":    "a: 1\n",
		"schemas/props.yml":   "$schema: /metaschema-1.json\nproperties: []\n",
	} {
		files[name] = text
	}
	dir := writeFiles(t, files)
	want := []string{
		"data/1-list.yml:1:1: a datafile must be a mapping with a $schema",
		"data/2-text.yml:1:1: a datafile must be a mapping with a $schema",
		`data/3-key.yml:2:1: the key "1" is not text but another key is, so the keys cannot be sorted: quote it`,
		"data/4-reserved.yml:2:1: the key __identifier belongs to the bundler: remove it",
		"data/5-schema.yml:1:1: $schema is not the path of a schema",
		"data/6-json.json:1:9: this is not JSON: a key in quotes is missing",
		"data/7\xff.yml: the name is not UTF-8: rename it",
		"data/8\n.yml:1:1: this is not YAML: mapping values are not allowed in this context",
		"resources/bin:2:1: is not UTF-8 from here on: save it as UTF-8",
		"schemas/list.yml:1:1: a schema must be a mapping with a $schema",
		"schemas/none.yml:1:1: a schema must be a mapping with a $schema",
		"schemas/props.yml:1:1: a schema of datafiles must have properties",
	}
	checkProblems(t, newInput(bundler.Folder(dir)), want...)
	commitAll(t, dir)
	checkProblems(t, newInput(openCommit(t, dir, "HEAD")), want...)
}

// TestSubmodules checks that a submodule below data is a problem of a commit, whatever its name.
func TestSubmodules(t *testing.T) {
	for _, name := range []string{"data/more", "data/more.yml", "resources/.more", "schemas/more"} {
		dir := writeFiles(t, shopFiles())
		commitAll(t, dir)
		for _, args := range [][]string{
			{"update-index", "--add", "--cacheinfo", "160000," + strings.Repeat("1", 40) + "," + name},
			{"-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "-m", "submodule"},
		} {
			if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v\n%s", args, err, out)
			}
		}
		folder, _, _ := strings.Cut(name, "/")
		checkProblems(t, newInput(openCommit(t, dir, "HEAD")),
			name+": is a submodule inside of "+folder+", whose files are not in this commit: keep them in the repository itself")
	}
}

func TestGraphQLProblems(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a word", "a\n",
			"graphql/schema.yml: has no list of GraphQL types: the file must be that list, or a mapping with that list as confs"},
		{"empty", "",
			"graphql/schema.yml: has no list of GraphQL types: the file must be that list, or a mapping with that list as confs"},
		{"no YAML", "a: b: c\n", "graphql/schema.yml:1:1: this is not YAML: mapping values are not allowed in this context"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := shopFiles()
			files["graphql/schema.yml"] = c.text
			checkProblems(t, newInput(bundler.Folder(writeFiles(t, files))), c.want)
		})
	}
}

// TestUnreadableTrees checks that a tree that cannot be read is an error, not a problem
// of a file.
func TestUnreadableTrees(t *testing.T) {
	dir := writeFiles(t, shopFiles())
	commitAll(t, dir)
	for _, c := range []struct {
		name string
		in   bundler.Input
		want string
	}{
		{"no such folder", newInput(bundler.Folder(filepath.Join(dir, "nope"))), "no such file"},
		{"no part", newInput(bundler.Folder(filepath.Join(dir, "data"))), `schemas": no such file`},
		{"no part of a commit", func() bundler.Input {
			in := newInput(openCommit(t, dir, "HEAD"))
			in.Data.Dir = "nope"
			return in
		}(), `has no folder "nope": say under checkout in the settings where it is`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, found, err := bundler.Make(t.Context(), c.in, bundler.Options{})
			if err == nil || found != nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, %v, want an error with %q", found, err, c.want)
			}
		})
	}
}

// TestSchemasOfBundle checks that the schemas of a bundle give the same result as the
// schemas from which it was made.
func TestSchemasOfBundle(t *testing.T) {
	dir := writeFiles(t, shopFiles())
	in := newInput(bundler.Folder(dir))
	want := makeBundle(t, in, bundler.Options{})
	writeFile(t, filepath.Join(dir, "schemas.json"), string(want))
	in.Schemas.Dir = "schemas.json"
	var err error
	if in.Schemas, in.GraphQL, err = bundler.SchemasFromFile(t.Context(), in.Schemas); err != nil {
		t.Fatal(err)
	}
	if got := makeBundle(t, in, bundler.Options{}); !bytes.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	commitAll(t, dir)
	in.Data.Tree = openCommit(t, dir, "HEAD")
	keys := map[string]bool{}
	for _, graphql := range []string{"[]", "[1]"} {
		raw := strings.Replace(string(want), `"graphql":`, `"graphql":`+graphql+`,"x":`, 1)
		if in.Schemas, in.GraphQL, err = bundler.SchemasFromBundle([]byte(raw), "x.json"); err != nil {
			t.Fatal(err)
		}
		key, err := bundler.Key(t.Context(), in)
		if keys[key] || err != nil {
			t.Errorf("other types, but not another key: %v", err)
		}
		keys[key] = true
	}
	for _, raw := range []string{"", "[]", "{}", `{"schemas": {"/a": {}}}`} {
		if _, _, err := bundler.SchemasFromBundle([]byte(raw), "x.json"); err == nil {
			t.Errorf("%q gives schemas", raw)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestWriteError(t *testing.T) {
	b, found, err := bundler.Make(t.Context(), newInput(bundler.Folder(writeFiles(t, shopFiles()))), bundler.Options{})
	if err != nil || found != nil {
		t.Fatal(found, err)
	}
	defer b.Close()
	if _, err := b.WriteTo(brokenWriter{}); err == nil {
		t.Error("a full disk goes unnoticed")
	}
}
