package rules_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/app-sre/prcheck/planner/rules"
	"github.com/app-sre/prcheck/settings"
)

// files returns a tree of files with these texts.
func files(texts map[string]string) fstest.MapFS {
	tree := fstest.MapFS{}
	for name, text := range texts {
		tree[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return tree
}

// all lists the files of a tree, none of them with a known id.
func all(tree fstest.MapFS) func() ([]rules.ProgramFile, error) {
	return func() ([]rules.ProgramFile, error) {
		var out []rules.ProgramFile
		for name := range tree {
			out = append(out, rules.ProgramFile{Path: name})
		}
		return out, nil
	}
}

// selected parses the settings of an integration.
func selected(t *testing.T, text string) settings.Programs {
	t.Helper()
	s, err := settings.Read("prcheck.yaml", []byte("version: 1\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return s.For("it").Programs
}

// The files that a command may use are a part of it, and no others are.
func TestPrograms(t *testing.T) {
	for _, c := range []struct {
		settings string
		counts   map[string]bool // whether a change of the file counts
	}{
		{"", map[string]bool{"prog.py": true, "Makefile": true, "hack/run.sh": true, "docs/a.md": true}},
		{"paths: {ignore: ['docs/**']}", map[string]bool{"prog.py": true, "docs/a.md": false}},
		{"programs: none", map[string]bool{"prog.py": false, "hack/run.sh": false}},
		{"programs: ['hack/**', docs/a.md]\npaths: {ignore: ['docs/**']}",
			map[string]bool{"prog.py": false, "hack/run.sh": true, "docs/a.md": true}},
		{"programs: none\nintegrations: {it: {programs: all}}", map[string]bool{"prog.py": true}},
		{"programs: all\nintegrations: {it: {programs: none}}", map[string]bool{"prog.py": false}},
		{"programs: none\nintegrations: {it: {reuse: none}}", map[string]bool{"prog.py": false}},
		{"integrations: {it: {programs: [prog.py]}}", map[string]bool{"prog.py": true, "Makefile": false}},
	} {
		for name, counts := range c.counts {
			tree := files(map[string]string{"prog.py": "1", "Makefile": "1", "hack/run.sh": "1", "docs/a.md": "1"})
			digest := func() string {
				d, err := rules.Workplace{Files: tree, List: all(tree)}.Programs()(selected(t, c.settings))
				if err != nil {
					t.Error(err)
				}
				return d
			}
			before := digest()
			for what, file := range map[string]*fstest.MapFile{
				"edited":     {Data: []byte("2"), Mode: 0o644},
				"executable": {Data: []byte("1"), Mode: 0o755},
				"linked":     {Data: []byte("gone"), Mode: fs.ModeSymlink},
				"removed":    nil,
			} {
				if tree[name] = file; file == nil {
					delete(tree, name)
				}
				if after := digest(); (after != before) != counts {
					t.Errorf("%s: %s is %s: it counts: %v, want %v", c.settings, name, what, after != before, counts)
				}
			}
		}
	}
}

// A file that git ignores counts when the settings name it without wildcards.
func TestIgnoredPrograms(t *testing.T) {
	tree := files(map[string]string{"bin/tool": "1", "bin/other": "1"})
	none := func() ([]rules.ProgramFile, error) { return nil, nil }
	digest := func(settings string) string {
		d, err := rules.Workplace{Files: tree, List: none}.Programs()(selected(t, settings))
		if err != nil {
			t.Error(err)
		}
		return d
	}
	named, matched := digest("programs: [bin/tool]"), digest("programs: ['bin/*']")
	tree["bin/tool"] = &fstest.MapFile{Data: []byte("2")}
	if digest("programs: [bin/tool]") == named || digest("programs: ['bin/*']") != matched {
		t.Error("the built program does not count, or more does")
	}
}

// gitID is what "git hash-object" says of a file with the text "print()" and a line break.
const gitID = "aec92917403fe09d962fb43a3bcef0ae21f4c217"

// A file whose id git knows is not read, and its digest is that of the same file when it is
// read.
func TestProgramsWithKnownIDs(t *testing.T) {
	tree := files(map[string]string{"prog.py": "print()\n"})
	digest := func(tree fstest.MapFS, listed ...rules.ProgramFile) string {
		list := func() ([]rules.ProgramFile, error) { return listed, nil }
		d, err := rules.Workplace{Files: tree, List: list}.Programs()(selected(t, "programs: [prog.py]"))
		if err != nil {
			t.Error(err)
		}
		return d
	}
	read, known := digest(tree), digest(nil, rules.ProgramFile{Path: "prog.py", ID: "100644 " + gitID})
	if read != known {
		t.Errorf("got %s from git's id, and %s from the file", known, read)
	}
	if digest(nil, rules.ProgramFile{Path: "prog.py", ID: "100644 0000"}) == known {
		t.Error("another id gives the same digest")
	}
}

// The list is read once for a plan, and so is each file.
func TestProgramsAreReadOnce(t *testing.T) {
	tree, lists := files(map[string]string{"a": "1", "b": "1"}), 0
	digest := rules.Workplace{Files: tree, List: func() ([]rules.ProgramFile, error) {
		lists++
		return all(tree)()
	}}.Programs()
	first, _ := digest(selected(t, "programs: [a]"))
	tree["a"] = &fstest.MapFile{Data: []byte("2")}
	again, _ := digest(selected(t, "programs: [a]"))
	more, _ := digest(selected(t, ""))
	if lists != 1 || first != again || more == "" || more == first {
		t.Errorf("%d lists, digests %s, %s, %s", lists, first, again, more)
	}
}

// A program whose contents cannot be known is a doubt; a link that leads nowhere is none.
func TestProgramsInDoubt(t *testing.T) {
	tree := files(map[string]string{"run.sh": "1", "folder/a.sh": "1"})
	tree["gone"] = &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte("nowhere")}
	tree["inside"] = &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte("folder")}
	tree["out"] = &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte("../outside")}
	tree["pipe"] = &fstest.MapFile{Mode: fs.ModeNamedPipe}
	for name, want := range map[string]string{
		"run.sh": "", "gone": "", "inside": "", "missing": "", "pipe": `"pipe": it is neither a file nor a folder`,
	} {
		got, err := rules.Workplace{Files: tree, List: all(tree)}.Programs()(selected(t, "programs: ["+name+"]"))
		switch {
		case want == "" && (err != nil || got == ""):
			t.Errorf("%s: got %q, %v, want a digest", name, got, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || got != ""):
			t.Errorf("%s: got %q, %v, want an error with %q", name, got, err, want)
		}
	}
	broken := errors.New("git is not installed")
	list := func() ([]rules.ProgramFile, error) { return nil, broken }
	if got, err := (rules.Workplace{Files: tree, List: list}).Programs()(settings.Programs{}); !errors.Is(err, broken) ||
		got != "" {
		t.Errorf("got %q, %v, want %v", got, err, broken)
	}
	if got, err := (rules.Workplace{Files: tree, List: list}).Programs()(settings.Programs{None: true}); err != nil ||
		got != "" {
		t.Errorf("without programs: got %q, %v", got, err)
	}
}
