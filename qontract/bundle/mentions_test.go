package bundle_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// TestMentionsOfPairs compares the index of two bundles with a search in their files.
func TestMentionsOfPairs(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		baseFiles, headFiles := randomRefs(r), randomRefs(r)
		for path, text := range baseFiles {
			if r.IntN(4) > 0 {
				headFiles[path] = text
			}
		}
		base := parse(t, textOf(r, baseFiles), nil)
		head := parse(t, textOf(r, headFiles), base)
		m := bundle.IndexMentions(base, head)
		for i := range 12 {
			p := bundle.Path(fmt.Sprintf("/%d.yml", i))
			for _, c := range []struct {
				name string
				got  []*bundle.File
				keys []string
			}{{"Of", m.Of(p), []string{"$ref", "path", "other"}}, {"WithPathValue", m.WithPathValue(p), []string{"path"}}} {
				if want := searched(p, c.keys, base, head); !slices.Equal(c.got, want) {
					t.Fatalf("seed %d: %s(%s): got %v, want %v", seed, c.name, p, names(c.got), names(want))
				}
			}
		}
		for i, b := range []*bundle.Bundle{base, head} {
			if got, want := m.DanglingRefs(b), searchedDangling(b); !slices.Equal(got, want) {
				t.Fatalf("seed %d: bundle %d: got %v, want %v", seed, i, got, want)
			}
		}
	}
}

// randomRefs returns up to ten of twelve datafiles that refer to each other, by their paths.
func randomRefs(r *rand.Rand) map[string]string {
	files := map[string]string{}
	for _, i := range r.Perm(12)[:r.IntN(11)] {
		fields := []string{`"$schema":"/s"`}
		for n := range r.IntN(4) {
			key := []string{"$ref", "path", "other"}[r.IntN(3)]
			value := fmt.Sprintf("%s%d.yml", []string{"/", `\u002f`, "no/"}[r.IntN(3)], r.IntN(12))
			fields = append(fields, fmt.Sprintf(`"f%d":{"%s":"%s"}`, n, key, value))
		}
		files[fmt.Sprintf("/%d.yml", i)] = "{" + strings.Join(fields, ",") + "}"
	}
	return files
}

// textOf returns a bundle of datafiles in a random order.
func textOf(r *rand.Rand, files map[string]string) string {
	var all []string
	for _, path := range slices.Sorted(maps.Keys(files)) {
		all = append(all, fmt.Sprintf("%q:%s", path, files[path]))
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return `{"data":{` + strings.Join(all, ",") + `},"resources":{}}`
}

// valuesByKey returns the keys and the values of the objects in a file.
func valuesByKey(f *bundle.File) map[string][]string {
	var all map[string]any
	if err := json.Unmarshal(f.Raw(), &all); err != nil {
		panic(err)
	}
	out := map[string][]string{}
	for _, v := range all {
		if in, ok := v.(map[string]any); ok {
			for key, value := range in {
				out[key] = append(out[key], value.(string))
			}
		}
	}
	return out
}

// searched returns the files of the first bundle, and then those that only the second has, in
// which a path stands under one of some keys.
func searched(p bundle.Path, keys []string, base, head *bundle.Bundle) (out []*bundle.File) {
	for _, b := range []*bundle.Bundle{base, head} {
		for _, f := range b.Datafiles() {
			if b == head && base.HasDatafile(f) {
				continue
			}
			fields := valuesByKey(f)
			if slices.ContainsFunc(keys, func(key string) bool { return slices.Contains(fields[key], string(p)) }) {
				out = append(out, f)
			}
		}
	}
	return out
}

// searchedDangling returns the references of a bundle that lead nowhere.
func searchedDangling(b *bundle.Bundle) (out []bundle.DanglingRef) {
	for _, f := range b.Datafiles() {
		targets := valuesByKey(f)["$ref"]
		slices.SortFunc(targets, cmp.Compare)
		for _, to := range slices.Compact(targets) {
			if _, ok := b.Datafile(bundle.Path(to)); !ok {
				out = append(out, bundle.DanglingRef{From: f.Path, To: bundle.Path(to)})
			}
		}
	}
	return out
}
