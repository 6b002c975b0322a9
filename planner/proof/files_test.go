package proof

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/settings"
)

// An evidence is head's files, and what runs read.
type evidence struct {
	files  map[string]string
	beside map[string]string
	reads  []FileRead
	err    error
}

func (c evidence) Reads(string, string) ([]FileRead, error) { return c.reads, c.err }
func (c evidence) Head() (map[string]string, string, error) { return c.files, "c0ffee", nil }
func (c evidence) All(string) ([]FileRead, error) {
	return []FileRead{{"b", false, "100644 2"}, {"a b", false, "100755 1"}, {"b", false, "behind a link: 100644 2"}}, nil
}

func (c evidence) Beside(name string, _ bool) (string, bool) {
	found, is := c.beside[name]
	return found, is
}

func (c evidence) BesideIn(folder string) []string {
	var out []string
	for name := range c.beside {
		if strings.HasPrefix(name, folder+"/") {
			out = append(out, strings.TrimPrefix(name, folder+"/"))
		}
	}
	return out
}

// listing returns what a run finds that lists a folder with these names.
func listing(names ...string) string {
	return fmt.Sprintf("folder %x", sha256.Sum256([]byte(strings.Join(names, "\x00"))))[:39]
}

// Each kind of change of what was read is found, and nothing else.
func TestSameFiles(t *testing.T) {
	files := map[string]string{"a.py": "100644 1", "conf/x": "100644 2", "conf/y": "100755 3", "conf/z/deep": "100644 4",
		"link": "120000 5", "sub": "160000 77"}
	read := []FileRead{
		{"a.py", false, "100644 1"}, {"conf", true, listing("local", "x", "y", "z")}, {"conf/local", false, "other 9"},
		{"conf/z", false, "folder"}, {"gone", false, "missing"},
		{"link", false, "120000 5"}, {".git", false, "commit c0ffee"}, {"sub/.git", false, "commit 77"},
		{"sub", false, "160000 77"},
	}
	beside := map[string]string{"conf/local": "other 9"}
	for _, tt := range []struct {
		name string
		edit func(map[string]string, map[string]string)
		want bool
	}{
		{"nothing", func(_, _ map[string]string) {}, true},
		{"a file that was not read", func(f, _ map[string]string) { f["conf/x"] = "100644 8" }, true},
		{"a new file elsewhere", func(f, _ map[string]string) { f["other/new"] = "100644 8" }, true},
		{"a new file deep below", func(f, _ map[string]string) { f["conf/z/new"] = "100644 8" }, true},
		{"a file", func(f, _ map[string]string) { f["a.py"] = "100644 8" }, false},
		{"a mode", func(f, _ map[string]string) { f["a.py"] = "100755 1" }, false},
		{"it is gone", func(f, _ map[string]string) { delete(f, "a.py") }, false},
		{"a new name", func(f, _ map[string]string) { f["conf/new"] = "100644 8" }, false},
		{"a name less", func(f, _ map[string]string) { delete(f, "conf/y") }, false},
		{"a new name that git ignores", func(_, b map[string]string) { b["conf/more"] = "other 1" }, false},
		{"a file that git ignores", func(_, b map[string]string) { b["conf/local"] = "other 8" }, false},
		{"a vain look-up", func(f, _ map[string]string) { f["gone"] = "100644 8" }, false},
		{"a folder in its place", func(f, _ map[string]string) { f["gone/x"] = "100644 8" }, false},
		{"a link", func(f, _ map[string]string) { f["link"] = "120000 8" }, false},
		{"a folder is gone", func(f, _ map[string]string) { delete(f, "conf/z/deep") }, false},
		{"a submodule", func(f, _ map[string]string) { f["sub"] = "160000 78" }, false},
	} {
		c := evidence{files: maps.Clone(files), beside: maps.Clone(beside), reads: read}
		tt.edit(c.files, c.beside)
		p := prover{Input: Input{Files: c}, filesSame: map[string]bool{}, unrecorded: map[string]bool{}}
		if got := p.sameFiles("it", "read:1"); got != tt.want {
			t.Errorf("%s: got %v", tt.name, got)
		}
	}
}

// What is not known is not the same. Where nobody recorded what a run read, it counts only as the
// settings say, and not if head edits what may be used.
func TestUnknownFiles(t *testing.T) {
	digest := fmt.Sprintf("all:sha256:%x",
		sha256.Sum256([]byte("\"a b\" 100755 1\n\"b\" behind a link: 100644 2\n\"b\" 100644 2\n")))
	const any, none, some = "version: 1\n", "version: 1\nprograms: none\n", "version: 1\nprograms: ['b*']\n"
	edit := []string{"b"}
	for _, tt := range []struct {
		id, settings string
		edits        []string
		want         bool
	}{
		{"", any, nil, false}, {"read:1", any, nil, false}, {"x", any, nil, false},
		{"declared", none, nil, true}, {"declared", some, nil, true}, {"declared", any, nil, false},
		{"declared", none, edit, false},
		{digest, any, nil, true}, {"all:sha256:0", any, nil, false}, {digest, none, nil, false}, {digest, some, nil, false},
		{digest, any, edit, false},
	} {
		s, err := settings.Read("prcheck.yaml", []byte(tt.settings))
		if err != nil {
			t.Fatal(err)
		}
		edited := func(string) []string { return tt.edits }
		p := prover{Input: Input{Files: evidence{err: errors.New("it is not signed")}, Settings: s, Edited: edited},
			filesSame: map[string]bool{}, unrecorded: map[string]bool{}}
		if got := p.sameFiles("it", tt.id); got != tt.want {
			t.Errorf("%q with %q and edits %q: got %v", tt.id, tt.settings, tt.edits, got)
		}
	}
	p := prover{Input: Input{Files: evidence{reads: []FileRead{{"a", false, "?"}}}}, filesSame: map[string]bool{},
		unrecorded: map[string]bool{}}
	if p.sameFiles("it", "read:1") {
		t.Error("what nobody could tell is the same")
	}
}
