package classes_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

type object = map[string]any

// An expectation says which classes a type has. A field that is nil is free.
type expectation struct {
	Verbs       []string
	CreateVia   string            `json:"create_via"`
	PatchKind   string            `json:"patch_kind"`
	PatchMedia  []string          `json:"patch_media"`
	ReadOnly    []string          `json:"read_only"`
	CreateOnly  []string          `json:"create_only"`
	WriteOnly   []string          `json:"write_only"`
	Secret      []string          `json:"secret"`
	Source      map[string]string `json:"create_only_source"`
	Defaults    object            `json:"defaults"`
	LongRunning map[string]bool   `json:"long_running"`
	FinalState  map[string]string `json:"final_state_via"`
	Lists       map[string]struct {
		Kind string
		Keys []string
	}
	AtomicObjects []string `json:"atomic_objects"`
	Atomic        []string
	Cyclic        []string
	Variants      map[string]openapi.Variants
	Status        *bool `json:"status_subresource"`
	Paths         *int  `json:"paths_of_put_body"`
}

// files reads documents from a folder.
func files(dir string) openapi.Reader {
	return func(name string, _ int64) ([]byte, error) {
		return os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	}
}

// typeAt returns the type at an address of a document.
func typeAt(t testing.TB, set *openapi.Set, name, path string) *resources.Type {
	t.Helper()
	d, err := set.Document(name)
	if err != nil {
		t.Fatal(err)
	}
	index := resources.NewIndex([]*openapi.Document{d})
	if mistakes := index.Mistakes(); mistakes != nil {
		t.Fatal(mistakes)
	}
	for _, one := range index.Types() {
		if one.Path == path {
			return one
		}
	}
	t.Fatalf("%s has no type at %s", name, path)
	return nil
}

func TestClassifySpecCases(t *testing.T) {
	type specCase struct {
		Input struct {
			File, Path string
			Overrides  []object
		}
		Expected expectation
	}
	dir := shared.Path(t, "data", "specs")
	shared.Each(t, "classify_spec", func(t *testing.T, c specCase) {
		set := openapi.NewSet(files(dir), openapi.Limits{})
		one := typeAt(t, set, strings.TrimPrefix(c.Input.File, "data/specs/"), c.Input.Path)
		check(t, one, c.Expected, withTypes(t, one, c.Input.Overrides)...)
	})
}

func TestClassifyRuleCases(t *testing.T) {
	type ruleCase struct {
		Input struct {
			Spec      json.RawMessage
			Files     map[string]json.RawMessage
			Path      string
			Overrides []object
		}
		Expected expectation
	}
	shared.Each(t, "classify_rule", func(t *testing.T, c ruleCase) {
		set := openapi.NewSet(func(name string, _ int64) ([]byte, error) {
			if name == "spec.json" {
				return c.Input.Spec, nil
			}
			if raw := c.Input.Files[name]; raw != nil {
				return raw, nil
			}
			return nil, fs.ErrNotExist
		}, openapi.Limits{})
		one := typeAt(t, set, "spec.json", c.Input.Path)
		check(t, one, c.Expected, withTypes(t, one, c.Input.Overrides)...)
	})
}

// withTypes makes an override file of the entries of a case, which may leave the type out.
func withTypes(t *testing.T, one *resources.Type, entries []object) []*classes.Overrides {
	if entries == nil {
		return nil
	}
	for _, e := range entries {
		if e["type"] == nil {
			e["type"] = one.ID()
		}
	}
	raw, err := json.Marshal(object{"overrides": entries})
	if err != nil {
		t.Fatal(err)
	}
	out, err := classes.ReadOverrides("overrides.json", raw)
	if err != nil {
		t.Fatal(err)
	}
	return []*classes.Overrides{out}
}

func check(t *testing.T, one *resources.Type, want expectation, overrides ...*classes.Overrides) {
	t.Helper()
	c, err := classes.New(one, overrides...)
	if err != nil {
		t.Fatal(err)
	}
	all, isCut, err := c.All()
	if err != nil || isCut {
		t.Fatal(isCut, err)
	}
	// What a family has in common stands in the expectations of ARM only.
	isOwn := func(g *classes.Ground) bool {
		return g != nil && (one.Family == resources.ARM || g.Source != classes.ByFamily)
	}
	sets := []struct {
		name string
		want []string
		is   func(*classes.Property) bool
	}{
		{"read-only", want.ReadOnly, func(p *classes.Property) bool { return isOwn(p.ReadOnly) }},
		// what a family knows stands in some expectations only
		{"create-only", want.CreateOnly, func(p *classes.Property) bool {
			return p.CreateOnly != nil && (p.CreateOnly.Source != classes.ByFamily || slices.Contains(want.CreateOnly, p.Path))
		}},
		{"write-only", want.WriteOnly, func(p *classes.Property) bool { return p.WriteOnly != nil }},
		{"secret", want.Secret, func(p *classes.Property) bool { return p.Secret != nil }},
		{"cyclic", want.Cyclic, func(p *classes.Property) bool { return p.Cyclic }},
		{"atomic", append(want.Atomic, want.AtomicObjects...), func(p *classes.Property) bool { return p.Atomic != nil }},
	}
	for _, s := range sets {
		if s.want == nil {
			continue
		}
		var got []string
		for _, p := range all {
			if s.is(p) {
				got = append(got, p.Path)
			}
		}
		if s.name != "atomic" {
			got, s.want = topmost(got), topmost(s.want)
		}
		compare(t, s.name, got, s.want)
	}
	checkDetails(t, all, want)
	checkOperations(t, one, want)
}

// topmost leaves out what is inside of another path.
func topmost(paths []string) []string {
	var out []string
	slices.Sort(paths)
	for _, p := range paths {
		isInside := slices.ContainsFunc(out, func(o string) bool {
			return strings.HasPrefix(p, o+".") || strings.HasPrefix(p, o+"[]") || strings.HasPrefix(p, o+"{}")
		})
		if !isInside {
			out = append(out, p)
		}
	}
	return out
}

func compare(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	for _, p := range got {
		if !slices.Contains(want, p) {
			t.Errorf("%s: %s is too much", what, p)
		}
	}
	for _, p := range want {
		if !slices.Contains(got, p) {
			t.Errorf("%s: %s is missing", what, p)
		}
	}
}
