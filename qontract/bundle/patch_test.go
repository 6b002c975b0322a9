package bundle_test

import (
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
)

const patchable = `{"data": {"/a.yml": {"$schema": "/s.yml", "n": 1.0}, "/c.yml": {"$schema": "/t.yml", "b": 1, "a": 2}},
 "resources": {"/r": {"path": "/r", "content": "x", "sha256sum": "1"}}, "schemas": {"/s.yml": {"v": 1}}, "graphql": [], "git_commit": "abc"}`

func TestPatched(t *testing.T) {
	for _, c := range []struct {
		name  string
		patch bundle.Patch
		want  string // the same as if this were the bundle
	}{
		{"nothing", bundle.Patch{}, patchable},
		{
			"a file changed", bundle.Patch{Datafiles: map[bundle.Path][]byte{"/a.yml": []byte(`{"$schema": "/t.yml"}`)}},
			`{"data": {"/a.yml": {"$schema": "/t.yml"}, "/c.yml": {"$schema": "/t.yml", "b": 1, "a": 2}},
			 "resources": {"/r": {"path": "/r", "content": "x", "sha256sum": "1"}}, "schemas": {"/s.yml": {"v": 1}}, "graphql": []}`,
		},
		{
			"a file added at its place, others taken out",
			bundle.Patch{
				Datafiles: map[bundle.Path][]byte{"/b.yml": []byte(`{"$schema": "/s.yml"}`)},
				Resources: map[bundle.Path][]byte{"/r": nil}, Schemas: map[bundle.Path][]byte{"/s.yml": nil},
			},
			`{"data": {"/a.yml": {"$schema": "/s.yml", "n": 1.0}, "/b.yml": {"$schema": "/s.yml"}, "/c.yml": {"$schema": "/t.yml", "b": 1, "a": 2}},
			 "resources": {}, "schemas": {}, "graphql": []}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := bundle.Parse([]byte(patchable), nil)
			if err != nil {
				t.Fatal(err)
			}
			want, err := bundle.Parse([]byte(c.want), nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := b.Patched(c.patch)
			if err != nil {
				t.Fatal(err)
			}
			if d := bundle.Compare(got, want); !d.Empty() {
				t.Errorf("the patched bundle differs from what it should be: %+v", d)
			}
			if got.SHA256() == b.SHA256() || got.Commit() != "abc" {
				t.Errorf("got the names %s and %s", got.SHA256(), got.Commit())
			}
			if len(got.Datafiles()) != len(want.Datafiles()) {
				t.Fatalf("got %d datafiles, want %d", len(got.Datafiles()), len(want.Datafiles()))
			}
			for i, f := range want.Datafiles() {
				if got.Datafiles()[i].Path != f.Path || got.DatafileIndex(f.Path) != i ||
					len(got.BySchema(f.Schema)) != len(want.BySchema(f.Schema)) {
					t.Errorf("%s is not at its place", f.Path)
				}
			}
		})
	}
}

func TestPatchedMistake(t *testing.T) {
	b, err := bundle.Parse([]byte(patchable), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Patched(bundle.Patch{Datafiles: map[bundle.Path][]byte{"/a.yml": []byte(`{}`)}}); err == nil {
		t.Error("a datafile without $schema is taken")
	}
}

func TestAppendJSON(t *testing.T) {
	const text = `{"b":1.0,"a":[true,null,"ü\"<"],"c":{}}`
	v, err := bundle.ParseValue([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	again, err := bundle.ParseValue(bundle.AppendJSON(nil, v))
	if err != nil || !bundle.Equal(v, again) {
		t.Errorf("got %v, %v", again, err)
	}
}
