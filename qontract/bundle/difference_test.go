package bundle

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestDifferenceLaw checks that a bundle and its difference from another one make the other
// one, as parsing it does.
func TestDifferenceLaw(t *testing.T) {
	made := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		base, head := randomBundle(r), randomBundle(r)
		b, err := Parse([]byte(base), nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Parse([]byte(head), b)
		if err != nil {
			t.Fatal(err)
		}
		raw, ok := b.Difference(want)
		if !ok {
			continue
		}
		made++
		got, err := b.WithDifference(raw)
		if err != nil {
			t.Fatal(err)
		}
		if describe(got) != describe(want) || got.SHA256() != want.SHA256() || got.Commit() != want.Commit() ||
			got.Timestamp() != want.Timestamp() {
			t.Errorf("seed %d: got %s\nwant %s", seed, describe(got), describe(want))
		}
		if diff := Compare(got, want); !diff.Empty() {
			t.Errorf("seed %d: they differ: %v", seed, diff)
		}
		for i := range raw {
			_, _ = b.WithDifference(raw[:i]) // must not panic
		}
	}
	if made < 100 {
		t.Errorf("only %d differences were made", made)
	}
}

// randomBundle returns the text of a bundle with few files, often in the order of their
// paths.
func randomBundle(r *rand.Rand) string {
	section := func(form string) string {
		names := []string{"/a", "/b", "/c", "/é", "x"}[:2+r.IntN(4)]
		if r.IntN(8) == 0 {
			r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		}
		var files []string
		for _, name := range names {
			if r.IntN(3) > 0 {
				files = append(files, fmt.Sprintf("%q: "+form, name, r.IntN(3)))
			}
		}
		return "{" + strings.Join(files, ", ") + "}"
	}
	return fmt.Sprintf(
		`{"data": %s, "git_commit": "%d", "git_commit_timestamp": "%d", "graphql": [%d], "resources": %s, "schemas": %s}`,
		section(`{"$schema": "/s", "x": {"$ref": "/a"}, "o": [{"path": "/b"}], "n": %d}`), r.IntN(9), r.IntN(9), r.IntN(10)/9,
		section(`{"content": "%d", "path": "/r", "sha256sum": "", "backrefs": [], "$schema": null}`), section(`{"n": "/%d"}`))
}

// describe writes down everything of a bundle that others see.
func describe(b *Bundle) string {
	var out []string
	for _, files := range [][]*File{b.Datafiles(), b.Resources(), b.JSONSchemas()} {
		for i, f := range files {
			f.Peek(func(raw []byte) { out = append(out, string(raw)) })
			var mentions []string
			f.EachMention(func(p Path) bool { mentions = append(mentions, string(p)); return true })
			f.Peek(func(raw []byte) { out = append(out, string(raw)) })
			out = append(out, fmt.Sprint(i, f.Path, f.Schema, string(f.Raw()), mentions))
		}
		out = append(out, "-")
	}
	for _, s := range slices.Sorted(maps.Keys(b.bySchema)) {
		for _, f := range b.bySchema[s] {
			out = append(out, fmt.Sprint(s, f.Path))
		}
	}
	m := IndexMentions(b)
	for _, p := range []Path{"/a", "/b", "/r", "x"} {
		for _, f := range append(m.Of(p), m.WithPathValue(p)...) {
			out = append(out, fmt.Sprint(p, " by ", f.Path))
		}
	}
	out = append(out, fmt.Sprint(m.IsComplete(), m.DanglingRefs(b), string(b.graphql)))
	return strings.Join(out, "\n")
}

func TestDifferenceOfAnother(t *testing.T) {
	b, err := Parse([]byte(`{"data": {}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{"", "null", "{}", `{"SHA256": "x", "Datafiles": {"/a": "{"}}`,
		`{"SHA256": "x", "Datafiles": {"/a": "1"}}`} {
		if got, err := b.WithDifference([]byte(raw)); err == nil {
			t.Errorf("%q: got a bundle with %d files", raw, len(slices.Concat(got.Datafiles())))
		}
	}
}
