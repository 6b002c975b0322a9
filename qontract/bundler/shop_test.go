package bundler_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/qontract/bundler"
)

// shopFiles is a small checkout to which every rule of the bundler applies.
func shopFiles() map[string]string {
	return map[string]string{
		"graphql/schema.yml": `confs:
- name: Query
  fields:
  - {name: teams, type: Team, isList: true, datafileSchema: /team.yml}
  - {name: users, type: User, isList: true, datafileSchema: /user.yml}
- name: Team
  fields:
  - {name: path, type: string, isRequired: true}
  - {name: name, type: string, isUnique: true}
  - {name: members, type: User, isList: true}
  - {name: tools, type: Tool, isList: true, isInterface: true}
- name: User
  datafile: /user.yml
  fields:
  - {name: login, type: string, isContextUnique: true}
- name: Tool
  isInterface: true
  interfaceResolve: {strategy: fieldMap, field: kind, fieldMap: {saw: Saw, pen: Pen}}
  fields: [{name: kind, type: string, isContextUnique: true}]
- name: Saw
  interface: Tool
  fields: [{name: kind, type: string, isContextUnique: true}, {name: manual, type: string, isResource: true}]
- name: Pen
  interface: Tool
  fields: [{name: kind, type: string, isContextUnique: true}, {name: color, type: string}]
`,
		"schemas/common-1.json": `{"$schema": "/metaschema.json", "definitions": {"resourceref": {"type": "string"}}}` + "\n",
		"schemas/team.yml": `---
$schema: /metaschema-1.json
properties:
  name: {type: string}
  readme: {$ref: "/common-1.json#/definitions/resourceref"}
  members:
    type: array
    items: {$ref: /user.yml, $schemaRef: /user.yml}
  tools:
    type: array
    items:
      oneOf:
      - properties:
          kind: {type: string, enum: [saw]}
          manual: {$ref: "/common-1.json#/definitions/resourceref"}
      - properties:
          kind: {type: string, enum: [pen]}
          color: {type: string}
`,
		"schemas/user.yml":    "$schema: /metaschema-1.json\nproperties:\n  login:\n    type: string\n",
		"data/teams/red.yml":  "---\n$schema: /team.yml\nname: red\nreadme: /red.md\nmembers:\n- $ref: /users/ana.yaml\ntools:\n- kind: saw\n  manual: /saw.yml\n- kind: pen\n  color: on\n",
		"data/teams/blue.yml": "$schema: /team.yml\nname: blue\nreadme: /red.md\nmembers: []\n",
		"data/users/ana.yaml": "$schema: /user.yml\nlogin: ana # the first\n",
		"data/users/bob.json": `{"$schema": "/user.yml", "login": "b\u00f6b"}`,
		"data/empty.yml":      "# nothing yet\n",
		"data/.hidden.yml":    "a: b: c\n",
		"data/notes.txt":      "not a datafile\n",
		"resources/red.md":    "Ünder {{ construction }}\n",
		"resources/saw.yml":   "# a template\n$schema: /manual-1.yml\npages: {{ pages }}\n",
		"resources/.gitkeep":  "",
	}
}

// writeFiles writes files into a new folder.
func writeFiles(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		writeFile(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	return dir
}

func writeFile(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// newInput returns the sections of a checkout in a tree.
func newInput(tree bundler.Tree) bundler.Input {
	part := func(name string) bundler.TreePart { return bundler.TreePart{Tree: tree, Dir: name, Shown: name} }
	return bundler.Input{
		Data: part("data"), Resources: part("resources"), Schemas: part("schemas"), GraphQL: part("graphql/schema.yml"),
		Commit: "c0ffee", Timestamp: "1700000000",
	}
}

// commitAll commits all files of a folder, and makes a repository of it first if
// necessary.
func commitAll(t testing.TB, dir string) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A", "-f"}, {"commit", "-q", "-m", "x"}} {
		args = append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

func openCommit(t testing.TB, dir, rev string) bundler.CommitTree {
	t.Helper()
	c, err := git.OpenCommit(t.Context(), dir, rev)
	if err != nil {
		t.Fatal(err)
	}
	return bundler.CommitTree{Commit: c}
}

// TestShop compares the bundle with the one that qontract-bundler made of the same files, byte for byte.
func TestShop(t *testing.T) {
	got := makeBundle(t, newInput(bundler.Folder(writeFiles(t, shopFiles()))), bundler.Options{})
	want, err := os.ReadFile("testdata/shop.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func ExampleMake() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{
		"data/ana.yml":    "$schema: /user.yml\nlogin: ana\nadmin: yes\n",
		"resources/a.txt": "hello",
		"schemas/s.json":  `{"$schema": "/metaschema.json"}`,
		"graphql.yml":     "- {name: Query, fields: []}\n",
	} {
		name = filepath.Join(dir, name)
		_ = os.MkdirAll(filepath.Dir(name), 0o755)
		_ = os.WriteFile(name, []byte(text), 0o600)
	}
	part := func(name string) bundler.TreePart {
		return bundler.TreePart{Tree: bundler.Folder(dir), Dir: name, Shown: name}
	}
	_ = os.WriteFile(filepath.Join(dir, "data", "bob.yml"), []byte("login: bob\nlogin: rob\nsince: 2020-01-01\n"), 0o600)
	_, problems, err := bundler.Make(context.Background(), bundler.Input{
		Data: part("data"), Resources: part("resources"), Schemas: part("schemas"), GraphQL: part("graphql.yml"),
	}, bundler.Options{})
	fmt.Println(err)
	for _, p := range problems {
		fmt.Println(p)
	}
	// Output:
	// <nil>
	// data/bob.yml:2:1: duplicate key "login", first on line 1: remove one
	// data/bob.yml:3:8: "2020-01-01" is an unquoted date, which JSON cannot express: quote it
}
