package folders

import (
	"errors"
	"io/fs"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/owners/coverage"
	"github.com/app-sre/prcheck/owners/decision"
	"github.com/app-sre/prcheck/owners/difference"
)

// from reads files of a map; a text of "!" is an error.
func from(files map[string]string) func(string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		text, isThere := files[path]
		switch {
		case !isThere:
			return nil, fs.ErrNotExist
		case text == "!":
			return nil, errors.New("no answer")
		}
		return []byte(text), nil
	}
}

func TestApprovers(t *testing.T) {
	f := New(from(map[string]string{
		"OWNERS":             "approvers: [root, team]\n",
		"OWNERS_ALIASES":     "aliases: {team: [ann, bob]}\n",
		"docs/OWNERS":        "approvers: [writer]\nreviewers: [eve]\n",
		"docs/broken/OWNERS": "- writer\n",
		"code/OWNERS":        "!",
	}), nil)
	for _, c := range []struct {
		path string
		want []string
	}{
		{"README.md", []string{"ann", "bob", "root"}},
		{"docs/a/b.md", []string{"ann", "bob", "root", "writer"}},
		{"docs/broken/c.md", []string{"ann", "bob", "root", "writer"}},
	} {
		var got []string
		for _, context := range f.Cover(c.path, nil, []byte("new")).Contexts {
			for _, p := range context.People {
				got = append(got, p.Name)
			}
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s may be approved by %q, want %q", c.path, got, c.want)
		}
	}
	if faults := f.Faults(); len(faults) != 1 || faults[0].File != "/docs/broken/OWNERS" {
		t.Errorf("faults %v", faults)
	}
	if of := f.Cover("code/x.go", []byte("a"), []byte("b")); of.Err == nil || of.IsCovered() {
		t.Error("a file whose OWNERS cannot be asked is covered")
	}
	if of := New(from(nil), nil).Cover("x", []byte("a"), nil); of.IsCovered() || of.Roots[0].Kind != difference.Removed {
		t.Error("a file without OWNERS is covered")
	}
}

// A file is decided about like a place of the bundle.
func TestDecision(t *testing.T) {
	f := New(from(map[string]string{"OWNERS": "approvers: [ann]\n"}), nil)
	file := f.Cover("README.md", []byte("a"), []byte("b"))
	said := decision.Words([]decision.Comment{{By: "ann", Body: "/lgtm"}})
	if d := decision.Decide([]*coverage.File{file}, decision.Input{Words: said}); !d.IsApproved {
		t.Errorf("got %+v", d)
	}
}

// The members of a group of the forge may approve in its place, also one that an alias names. A group that cannot be
// asked makes the file unknown.
func TestGroups(t *testing.T) {
	groups := func(name string) ([]string, bool, error) {
		switch name {
		case "org/team":
			return []string{"bob", "cy"}, true, nil
		case "empty":
			return nil, true, nil
		case "4711": // of the group with this id
			return []string{"eve"}, true, nil
		case "lost":
			return nil, false, errors.New("no answer")
		}
		return nil, false, nil
	}
	f := New(from(map[string]string{"OWNERS": "approvers: [ann, writers, empty, '4711']\n",
		"OWNERS_ALIASES": "aliases: {writers: [org/team, dan]}\n", "code/OWNERS": "approvers: [ann, lost]\n"}), groups)
	var got []string
	for _, p := range f.Cover("README.md", nil, []byte("new")).Contexts[0].People {
		got = append(got, p.Name)
	}
	if want := []string{"ann", "bob", "cy", "dan", "4711"}; !slices.Equal(got, want) {
		t.Errorf("approvers %q, want %q", got, want)
	}
	if of := f.Cover("code/x.go", []byte("a"), []byte("b")); of.Err == nil || of.IsCovered() {
		t.Error("a file of a group that cannot be asked is covered")
	}
}
