package source_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/world"
	"github.com/app-sre/prcheck/wrapper"
)

// smallBundle is a bundle with one datafile.
const smallBundle = `{"data":{"/a.yml":{"$schema":"/a-1.yml"}},"graphql":[],"resources":{}}`

// listed returns the paths that a workplace lists, sorted.
func listed(t *testing.T, folder string, own source.Own) []string {
	t.Helper()
	w, err := source.FindWorkplace(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	w.Own = own
	var out []string
	if !w.IsRepository() {
		out, err = w.List(t.Context())
	} else if tree, trouble := (source.Opener{}).World(t.Context(), "dir:"+folder, own, world.Keeper{}); trouble == nil {
		for _, f := range tree.Files() {
			out = append(out, f.Path)
		}
	} else {
		err = trouble
	}
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// What prcheck wrote is no program, and neither is a bundle; everything else is one.
func TestOwnFilesAreNoPrograms(t *testing.T) {
	log := wrapper.LogName("it/k0")
	programs := map[string]string{
		"main.py": "", "lib/prog.py": "", "config.json": `{"data": {"a": 1}}`, "other.json": `{"version": "1"}`,
		"notes.txt":  "# HELP me",
		"data/a.yml": "", "__pycache__/alone.cpython-312.pyc": "", "state.txt": "", "state/notes.py": "",
		"state/native/notes.py": "", "it.log": "", "xml.xml": "<?xml version=\"1.0\"?><testsuites>",
	}
	written := map[string]string{
		"base.json": smallBundle, "old.json": " " + smallBundle, "results-1.json": `{"version": "prcheck/v1"}`,
		"plan.json":       "{\n  \"version\": \"prcheck/v1\"",
		"results-1.jsonl": `{"version":"prcheck/v1"}`, "logs-1/" + log: "",
		"logs-1/base/" + strings.TrimSuffix(log, ".log") + ".2.log": "",
		"state/.lock": "", "state/blame/0123456789abcdef0123456789abcdef.json": "", "state/collection/last.json": "",
		"state/dependence/all.json": "", "state/tally/2026-11-22.json": "",
		"state/traces/0123456789abcdef0123456789abcdef/0123456789abcdef-0123456789abcdef.json":        "",
		"state/native/0123456789abcdef0123456789abcdef/known/0123456789abcdef0123456789abcdef/a.json": "",
		"state/native/0123456789abcdef0123456789abcdef/seen":                                          "",
		"report.html": "", "__pycache__/main.cpython-312.pyc": "", "lib/__pycache__/prog.cpython-312-pytest-8.1.pyc": "",
		".cache/CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n", ".cache/v/lastfailed": "",
		"junit.xml":   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"prcheck\" tests=\"4\">",
		"metrics.txt": "# HELP prcheck_passed 1 when",
	}
	all := map[string]string{}
	var want []string
	for name, text := range programs {
		all[name] = text
		want = append(want, name)
	}
	slices.Sort(want)
	for name, text := range written {
		all[name] = text
	}
	dir := fill(t, all)
	own := source.Own{Files: []string{"", filepath.Join(dir, "report.html")}, State: filepath.Join(dir, "state")}
	if got := listed(t, dir, own); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := os.WriteFile(filepath.Join(dir, ".git"), []byte("no repository"), 0o600); err != nil {
		t.Fatal(err)
	}
	if tree, err := (source.Opener{}).World(t.Context(), "dir:"+dir, own, world.Keeper{}); err == nil {
		t.Errorf("git knows nothing of the folder, and yet it has the files %v", tree.Files())
	}
}

// In a checkout the files count that git tracks or does not ignore, wherever tasks start. A
// tracked file counts whatever its name is.
func TestWorkplaceInACheckout(t *testing.T) {
	dir := repository(t, map[string]string{
		".gitignore": "ignored\nbin/\n", "Makefile": "a", "ci/run.sh": "b", "data/a.yml": "c", "edited.py": "d",
		"results.json":        `{"version": "prcheck/v1"}`,
		"it-0123456789ab.log": "tracked",
	})
	for name, text := range map[string]string{"ignored": "", "bin/tool": "", "ci/new.sh": "", "edited.py": "changed",
		"plan.json": `{"version": "prcheck/v1"}`, "data/new.yml": ""} {
		put(t, dir, name, text)
	}
	want := []string{".gitignore", "Makefile", "ci/new.sh", "ci/run.sh", "data/a.yml", "data/new.yml", "edited.py",
		"it-0123456789ab.log", "results.json"}
	for _, folder := range []string{dir, filepath.Join(dir, "ci")} {
		if got := listed(t, folder, source.Own{}); !slices.Equal(got, want) {
			t.Errorf("in %s: got %q, want %q", folder, got, want)
		}
	}
	if got := listed(t, filepath.Join(dir, "bin"), source.Own{}); !slices.Equal(got, []string{"tool"}) {
		t.Errorf("tasks start in a folder that git ignores: got %q", got)
	}
}
