package validator_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/validator"
)

// A tree is a checkout: its texts by path, in the folders data, resources, schemas and
// graphql.
type tree map[string]string

const typesFile = "graphql/schema.yml"

func smallTree(t testing.TB) tree {
	t.Helper()
	a, err := txtar.ParseFile("testdata/tree.txtar")
	if err != nil {
		t.Fatal(err)
	}
	out := tree{}
	for _, f := range a.Files {
		out[f.Name] = string(f.Data)
	}
	return out
}

// readTree reads a section of a checkout on disk.
func (tr tree) add(t testing.TB, section, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		tr[section+"/"+filepath.ToSlash(rel)] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

var resourceSchema = regexp.MustCompile(`(?m)^\$schema: (.+\.ya?ml)$`)

// bundle makes a bundle of the tree, without the keys that a bundler computes.
func (tr tree) bundle(t testing.TB) *bundle.Bundle {
	t.Helper()
	doc := map[string]any{"git_commit": "c", "git_commit_timestamp": "1"}
	for _, s := range []string{"data", "resources", "schemas"} {
		doc[s] = map[string]any{}
	}
	for name, text := range tr {
		section, rest, _ := strings.Cut(name, "/")
		path := "/" + rest
		var v any
		if section != "resources" {
			value, err := validator.FromYAML(text)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			v = validator.ToPlain(value)
		}
		switch section {
		case "graphql":
			doc["graphql"] = v
		case "resources":
			sum := sha256.Sum256([]byte(text))
			r := map[string]any{"path": path, "content": text, "sha256sum": hex.EncodeToString(sum[:]), "$schema": nil,
				"backrefs": []any{}}
			if m := resourceSchema.FindStringSubmatch(text); m != nil {
				r["$schema"] = m[1]
			}
			doc[section].(map[string]any)[path] = r
		default:
			doc[section].(map[string]any)[path] = v
		}
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.ParseUnchecked(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (tr tree) read(s validator.Section, p bundle.Path) ([]byte, error) {
	name := string(s) + string(p)
	if s == validator.GraphQL {
		name = typesFile
	}
	if text, ok := tr[name]; ok {
		return []byte(text), nil
	}
	return nil, errors.New("not in the tree")
}

// edit returns a copy of the tree with some changes: "file: old => new" replaces a text
// that occurs once, "file: => text" writes a file, and "file: delete" removes it.
func (tr tree) edit(t testing.TB, changes ...[3]string) tree {
	t.Helper()
	out := tree{}
	for name, text := range tr {
		out[name] = text
	}
	for _, c := range changes {
		name, old, text := c[0], c[1], c[2]
		switch {
		case old == "" && text == "":
			delete(out, name)
		case old == "":
			out[name] = text
		case strings.Count(out[name], old) != 1:
			t.Fatalf("%s holds %q %d times, want once", name, old, strings.Count(out[name], old))
		default:
			out[name] = strings.Replace(out[name], old, text, 1)
		}
	}
	return out
}

// check returns the findings as text, one on each line, with their places.
func (tr tree) check(t testing.TB, o validator.Options) []string {
	t.Helper()
	b := tr.bundle(t)
	r, err := validator.Check(context.Background(), b, o)
	if err != nil {
		t.Fatal(err)
	}
	r.Locate(b, tr.read)
	var text strings.Builder
	if err := r.WriteText(&text, validator.Names{validator.GraphQL: typesFile}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	if text.Len() == 0 {
		return nil
	}
	return lines[:len(lines)-1] // without the number
}
