package rules_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/app-sre/prcheck/planner/rules"
)

// files returns a tree of files with these texts.
func files(texts map[string]string) fstest.MapFS {
	tree := fstest.MapFS{}
	for name, text := range texts {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return tree
}

// The files that a command mentions are a part of it, and no others are.
func TestPrograms(t *testing.T) {
	tree := files(map[string]string{
		"hack/run.sh": "1", "integrations/dns/main.go": "1", "integrations/quay/main.go": "1", "integrations/dns/.git/HEAD": "1",
	})
	digest := func(argv ...string) string {
		t.Helper()
		d, err := rules.Programs(rules.Workplace{Root: "/repo", Folder: "/repo", Files: tree})(argv)
		if err != nil {
			t.Errorf("%q: %v", argv, err)
		}
		return d
	}
	for _, argv := range [][]string{nil, {"run"}, {"."}, {"./"}, {"/repo"}, {"../outside.sh"}, {"/outside.sh"}, {"hack/none.sh"}, {""}, {"{config}"}, {"hack/run.sh\x00"}} {
		if got := digest(argv...); got != "" {
			t.Errorf("%q: got %q, want nothing", argv, got)
		}
	}
	for _, c := range []struct {
		word, file string // the word mentions the file
		counts     bool
	}{
		{"hack/run.sh", "hack/run.sh", true},
		{"./hack/run.sh", "hack/run.sh", true},
		{"/repo/hack/run.sh", "hack/run.sh", true},
		{"hack", "hack/run.sh", true},
		{"./integrations/dns", "integrations/dns/main.go", true},
		{"./integrations/dns", "integrations/dns/more.go", true},
		{"./integrations/dns", "integrations/quay/main.go", false},
		{"./integrations/dns", "integrations/dns/.git/HEAD", false},
		{"hack/run.sh", "integrations/dns/main.go", false},
	} {
		before := digest("go", c.word)
		tree[c.file] = &fstest.MapFile{Data: []byte("of " + c.word)}
		if after := digest("go", c.word); (before != after) != c.counts {
			t.Errorf("%s changed: %s was %q, is %q", c.file, c.word, before, after)
		}
	}
	if got := digest("hack/run.sh", "integrations/dns"); got == digest("integrations/dns", "hack/run.sh") || got == digest("hack/run.sh") {
		t.Errorf("words do not count: %q", got)
	}
}

// A file is a part of the command wherever it lies in the repository, also above the folder
// that tasks start in.
func TestProgramsAboveTheFolder(t *testing.T) {
	at := rules.Workplace{Root: "/repo", Folder: "/repo/ci", Files: files(map[string]string{"hack/run.sh": "1", "ci/run.sh": "1"})}
	for word, counts := range map[string]bool{
		"../hack/run.sh": true, "../hack": true, "run.sh": true, "../ci": false, "../../repo/hack": true, "..": false, "../..": false, "../../hack": false,
	} {
		if got, err := rules.Programs(at)([]string{word}); (got != "") != counts || err != nil {
			t.Errorf("%s: got %q, %v, want a digest: %v", word, got, err, counts)
		}
	}
}

// A program whose contents cannot be known is a doubt; a link that leads nowhere is none.
func TestProgramsInDoubt(t *testing.T) {
	tree := files(map[string]string{"hack/run.sh": "1", "folder/x/a.sh": "1", "linked/run.sh": "1", "piped/run.sh": "1"})
	tree["hack/gone"] = &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte("nowhere")}
	tree["linked/in"] = &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte("../folder/x")}
	tree["piped/pipe"] = &fstest.MapFile{Mode: fs.ModeNamedPipe}
	for word, want := range map[string]string{
		"hack": "", "linked/run.sh": "", "linked": "not all in it are files and folders", "piped": "not all in it are files and folders",
		"piped/pipe": "not all in it are files and folders",
	} {
		got, err := rules.Programs(rules.Workplace{Root: "/repo", Folder: "/repo", Files: tree})([]string{"go", word})
		switch {
		case want == "" && (err != nil || got == ""):
			t.Errorf("%s: got %q, %v, want a digest", word, got, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), word) || got != ""):
			t.Errorf("%s: got %q, %v, want an error with %q", word, got, err, want)
		}
	}
}

// The digest stays what it was: it is a part of what is remembered of tasks.
func TestProgramsDigestIsStable(t *testing.T) {
	at := rules.Workplace{Root: "/repo", Folder: "/repo", Files: files(map[string]string{"hack/run.sh": "1"})}
	got, err := rules.Programs(at)([]string{"hack"})
	const want = `"hack" 54be01c09d756201b4ce65085a46b239bafb65cfa40b200ec0b2d22e2befc660`
	if err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}
