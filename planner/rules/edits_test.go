package rules_test

import (
	"errors"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/app-sre/prcheck/planner/rules"
	"github.com/app-sre/prcheck/settings"
)

const settingsText = `version: 1
exec: {argv: [./hack/run.sh, "{name}"]}
integrations:
  dns: {queries: [queries/dns.graphql], programs: [ci/hack/*]}
  quay: {exec: {argv: [go, run, "./cmd/{name}"]}, programs: [ci/cmd/quay/*]}
`

// baseFiles are the files of base.
func baseFiles() map[string]string {
	return map[string]string{
		"ci/prcheck.yaml":    settingsText,
		".gitlab-ci.yml":     "include: [/ci/jobs.yml]\ncheck: {script: [\"sh 'tools/check.sh'\", planner --config ci/prcheck.yaml]}\n",
		"ci/jobs.yml":        "jobs",
		"tools/check.sh":     "check",
		"ci/hack/run.sh":     "run",
		"ci/cmd/quay/x.go":   "x",
		"ci/queries/dns.txt": "",
	}
}

// compared returns the comparison of two sets of files of the repository /repo.
func compared(base, head fstest.MapFS) *rules.Comparison {
	c := &rules.Comparison{ReadBase: base.ReadFile, ReadHead: head.ReadFile, PathOf: func(name string) (string, bool) {
		rel, ok := strings.CutPrefix(path.Clean(path.Join("/repo", strings.TrimPrefix(name, "/repo"))), "/repo/")
		return rel, ok
	}}
	for _, name := range slices.Sorted(maps.Keys(head)) {
		if old := base[name]; old == nil || string(old.Data) != string(head[name].Data) {
			c.Changed = append(c.Changed, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(base)) {
		if head[name] == nil {
			c.Changed = append(c.Changed, name)
		}
	}
	return c
}

func parse(t *testing.T, text string) *settings.Settings {
	t.Helper()
	s, err := settings.Read("ci/prcheck.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// isData says that data and settings are no programs.
func isData(path string) bool { return strings.HasPrefix(path, "data/") || path == "ci/prcheck.yaml" }

// Without settings about programs, every file that is no data is one.
func TestEditsOfUnnamedPrograms(t *testing.T) {
	const general = "exec: {argv: [make, check]}\npaths: {ignore: ['docs/**']}\nintegrations: {quay: {programs: none}, dns: {queries: [queries/dns.graphql]}}\n"
	for edited, want := range map[string]map[string]string{
		"Makefile": {"it": "Makefile, which its command may use as head has it",
			"dns": "Makefile, which its command may use as head has it"},
		"lib/prog.py": {"it": "lib/prog.py, which its command may use as head has it",
			"dns": "lib/prog.py, which its command may use as head has it"},
		"ci/queries/dns.graphql": {"it": "ci/queries/dns.graphql, which its command may use as head has it",
			"dns": "ci/queries/dns.graphql"},
		"data/a.yml": {}, "docs/a.md": {}, "ci/prcheck.yaml": {},
	} {
		base := map[string]string{"ci/prcheck.yaml": "version: 1\n" + general}
		head := maps.Clone(base)
		head[edited] += "# new\n"
		edits, err := rules.FindEdits(rules.Input{
			Settings: rules.SideSettings{Settings: parse(t, base["ci/prcheck.yaml"]), Path: "ci/prcheck.yaml"}, IsData: isData,
			Compare: func() (*rules.Comparison, error) { return compared(files(base), files(head)), nil },
			CanPlan: func(*settings.Settings, func(string) ([]byte, error)) error { return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"it", "dns", "quay"} {
			if got := strings.Join(edits.Of(name), "; "); got != want[name] {
				t.Errorf("%s edited: %s: got %q, want %q", edited, name, got, want[name])
			}
		}
	}
}

func TestFindEdits(t *testing.T) {
	const commit = "0123456789abcdef"
	const full = "everything runs in full"
	for _, tt := range []struct {
		name    string
		base    map[string]string // in place of files of base; "" removes one
		head    map[string]string // changes of head; "" removes the file
		missing bool              // base has no settings
		ciFile  string
		planned error  // why no plan can be made of head
		note    string // in the notes; "" for none at all
		dns     string // edits of the integration dns, and of quay
		quay    string
	}{
		{name: "nothing"},
		{name: "another file", head: map[string]string{"data/a.yml": "new"}},
		{name: "a comment in the settings", head: map[string]string{"ci/prcheck.yaml": "# new\n" + settingsText},
			note: "head edits ci/prcheck.yaml"},
		{name: "settings of one integration",
			head: map[string]string{"ci/prcheck.yaml": strings.Replace(settingsText, "[queries/dns.graphql]",
				"[queries/dns.graphql], trace: none", 1)},
			note: "head edits ci/prcheck.yaml: the plan follows base's, and what the edit concerns runs in full",
			dns:  "trace in ci/prcheck.yaml"},
		{name: "general settings",
			head: map[string]string{"ci/prcheck.yaml": settingsText + "paths: {ignore: ['data/**']}\n"},
			note: "head edits ci/prcheck.yaml", dns: "paths.ignore in ci/prcheck.yaml", quay: "paths.ignore in ci/prcheck.yaml"},
		{name: "settings are removed", head: map[string]string{"ci/prcheck.yaml": ""},
			note: "head removes ci/prcheck.yaml: the plan follows base's, and " + full,
			dns:  "ci/prcheck.yaml, which head removes", quay: "ci/prcheck.yaml, which head removes"},
		{name: "settings cannot be read", head: map[string]string{"ci/prcheck.yaml": "version: 9\n"},
			note: "head's ci/prcheck.yaml cannot be read, so " + full + " by base's",
			dns:  "ci/prcheck.yaml, which cannot be read on head", quay: "ci/prcheck.yaml, which cannot be read on head"},
		{name: "the first settings", missing: true, head: map[string]string{"ci/prcheck.yaml": settingsText + "# new\n"},
			note: "base 0123456789ab has no ci/prcheck.yaml, so nothing can be started", dns: "ci/prcheck.yaml, which head adds",
			quay: "ci/prcheck.yaml, which head adds"},
		{name: "no settings at all", missing: true, head: map[string]string{"ci/prcheck.yaml": ""},
			note: "base 0123456789ab has no ci/prcheck.yaml"},
		{name: "no plan of head", planned: errors.New("no such integration"),
			note: "once head is merged no plan can be made: no such integration",
			dns:  "ci/prcheck.yaml, with which no plan can be made on head",
			quay: "ci/prcheck.yaml, with which no plan can be made on head"},
		{name: "a query", head: map[string]string{"ci/queries/dns.graphql": "{ x }"}, dns: "ci/queries/dns.graphql"},
		{name: "a program", head: map[string]string{"ci/hack/run.sh": "new"},
			dns: "ci/hack/run.sh, which its command may use as head has it"},
		{name: "a file in the folder of a program", head: map[string]string{"ci/cmd/quay/x.go": "new"},
			quay: "ci/cmd/quay/x.go, which its command may use as head has it"},
		{name: "a new file in the folder of a program", head: map[string]string{"ci/cmd/quay/a, b.go": "new"},
			quay: `"ci/cmd/quay/a, b.go", which its command may use as head has it`},
		{name: "many files of a program", head: map[string]string{"ci/cmd/quay/1": "", "ci/cmd/quay/2": "2",
			"ci/cmd/quay/3": "3", "ci/cmd/quay/4": "4", "ci/cmd/quay/5": "5", "ci/cmd/quay/6": "6"},
			quay: "ci/cmd/quay/2, which its command may use as head has it; ci/cmd/quay/3, which its command may use as head has it; ci/cmd/quay/4, which its command may use as head has it; 2 more files that its command may use"},
		{name: "a program beside that folder", head: map[string]string{"ci/cmd/quay2/x.go": "new"}},
		{name: "the CI file", head: map[string]string{".gitlab-ci.yml": "stages: []"},
			note: "head edits .gitlab-ci.yml, which decides whether and how these checks are started", dns: ".gitlab-ci.yml",
			quay: ".gitlab-ci.yml"},
		{name: "a file that the CI file includes", head: map[string]string{"ci/jobs.yml": ""},
			note: "head edits ci/jobs.yml, which decides", dns: "ci/jobs.yml", quay: "ci/jobs.yml"},
		{name: "a script that the CI file starts", head: map[string]string{"tools/check.sh": "new"},
			note: "head edits tools/check.sh, which decides", dns: "tools/check.sh", quay: "tools/check.sh"},
		{name: "a mention that only head has", base: map[string]string{".gitlab-ci.yml": "x"},
			head: map[string]string{"tools/check.sh": "new"}},
		{name: "a CI file of another name", ciFile: "own.yml", head: map[string]string{"own.yml": "x"},
			note: "head edits own.yml", dns: "own.yml", quay: "own.yml"},
		{name: "the list of CI files is head's",
			head: map[string]string{"other.txt": "x", "ci/prcheck.yaml": settingsText + "trust: {ci_files: [other.txt]}\n"},
			note: "head edits other.txt, which decides", dns: "other.txt; trust in ci/prcheck.yaml",
			quay: "other.txt; trust in ci/prcheck.yaml"},
		{name: "many CI files", head: map[string]string{".gitlab/1": "", ".gitlab/2": "x", ".gitlab/3": "x", ".gitlab/4": "x",
			".gitlab/5": "x", ".gitlab/6": "x", ".gitlab/7": "x"},
			note: "head edits .gitlab/2, .gitlab/3, .gitlab/4, .gitlab/5, .gitlab/6, 1 more, which decides", dns: ".gitlab/2",
			quay: ".gitlab/2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			baseTexts, headTexts := baseFiles(), baseFiles()
			for name, text := range tt.base {
				baseTexts[name], headTexts[name] = text, text
			}
			for name, text := range tt.head {
				headTexts[name] = text
				if text == "" {
					delete(headTexts, name)
				}
			}
			base := rules.SideSettings{Settings: parse(t, settingsText), Path: "ci/prcheck.yaml", Commit: commit,
				Missing: tt.missing}
			if tt.missing {
				delete(baseTexts, "ci/prcheck.yaml")
				base.Settings = &settings.Settings{}
			}
			edits, err := rules.FindEdits(rules.Input{
				Settings: base, CIFile: tt.ciFile, IsData: isData,
				Compare: func() (*rules.Comparison, error) { return compared(files(baseTexts), files(headTexts)), nil },
				CanPlan: func(*settings.Settings, func(string) ([]byte, error)) error { return tt.planned },
			})
			if err != nil {
				t.Fatal(err)
			}
			notes := strings.Join(edits.Notes, "\n")
			if tt.note == "" && notes != "" || !strings.Contains(notes, tt.note) {
				t.Errorf("got the notes %q, want %q", notes, tt.note)
			}
			for name, want := range map[string]string{"dns": tt.dns, "quay": tt.quay} {
				if got := strings.Join(edits.Of(name), "; "); got != want {
					t.Errorf("%s: got %q, want %q", name, got, want)
				}
			}
		})
	}
}

// The settings of head are tried with the queries of head.
func TestFindEditsReadsQueriesOfHead(t *testing.T) {
	head := baseFiles()
	head["ci/queries/dns.graphql"] = "{ head }"
	var text []byte
	_, err := rules.FindEdits(rules.Input{
		Settings: rules.SideSettings{Settings: parse(t, settingsText), Path: "ci/prcheck.yaml"},
		IsData:   isData,
		Compare:  func() (*rules.Comparison, error) { return compared(files(baseFiles()), files(head)), nil },
		CanPlan: func(_ *settings.Settings, read func(string) ([]byte, error)) (err error) {
			text, err = read("queries/dns.graphql")
			return err
		},
	})
	if string(text) != "{ head }" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
}

// Head's own settings are compared with those of base, and edits of programs are found with them.
func TestFindEditsOfOwnSettings(t *testing.T) {
	for _, tt := range []struct {
		name       string
		base, head map[string]string // changes of files; "" removes one
		note       string            // in the notes; "" for none at all
		dns        string            // edits of the integration dns, and of quay
		quay       string
	}{
		{name: "nothing"},
		{name: "a comment", head: map[string]string{"ci/prcheck.yaml": "# new\n" + settingsText},
			note: "head edits ci/prcheck.yaml: what the edit concerns runs in full"},
		{name: "one integration",
			head: map[string]string{"ci/prcheck.yaml": strings.Replace(settingsText, "[queries/dns.graphql]",
				"[queries/dns.graphql], trace: none", 1)},
			note: "head edits ci/prcheck.yaml", dns: "trace in ci/prcheck.yaml"},
		{name: "the first settings", base: map[string]string{"ci/prcheck.yaml": ""}, dns: "ci/prcheck.yaml, which head adds",
			quay: "ci/prcheck.yaml, which head adds"},
		{name: "base's cannot be read", base: map[string]string{"ci/prcheck.yaml": "version: 9\n"},
			dns: "ci/prcheck.yaml, which cannot be read on base", quay: "ci/prcheck.yaml, which cannot be read on base"},
		{name: "a program", head: map[string]string{"ci/hack/run.sh": "new"},
			dns: "ci/hack/run.sh, which its command may use as head has it"},
		{name: "a query", head: map[string]string{"ci/queries/dns.graphql": "{ new }"}, dns: "ci/queries/dns.graphql"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base, head := baseFiles(), baseFiles()
			for side, changes := range map[*map[string]string]map[string]string{&base: tt.base, &head: tt.head} {
				maps.Copy(*side, changes)
				maps.DeleteFunc(*side, func(_, text string) bool { return text == "" })
			}
			edits, err := rules.FindEdits(rules.Input{
				Settings: rules.SideSettings{Settings: parse(t, head["ci/prcheck.yaml"]), Own: "/repo/ci/prcheck.yaml"},
				IsData:   isData,
				Compare:  func() (*rules.Comparison, error) { return compared(files(base), files(head)), nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			notes := strings.Join(edits.Notes, "\n")
			if tt.note == "" && notes != "" || !strings.Contains(notes, tt.note) {
				t.Errorf("got the notes %q, want %q", notes, tt.note)
			}
			for name, want := range map[string]string{"dns": tt.dns, "quay": tt.quay} {
				if got := strings.Join(edits.Of(name), "; "); got != want {
					t.Errorf("%s: got %q, want %q", name, got, want)
				}
			}
		})
	}
}

// A pattern that names a file of the data makes it a program.
func TestEditOfAProgramBelowData(t *testing.T) {
	const text = "version: 1\nexec: {argv: [a]}\nintegrations: {dns: {programs: ['data/tools/**']}}\n"
	base, head := map[string]string{"data/tools/x": "1", "data/y": "1"},
		map[string]string{"data/tools/x": "2", "data/y": "2"}
	edits, err := rules.FindEdits(rules.Input{
		Settings: rules.SideSettings{Settings: parse(t, text)}, IsData: isData,
		Compare: func() (*rules.Comparison, error) { return compared(files(base), files(head)), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := edits.Of("dns"); !slices.Equal(got, []string{"data/tools/x, which its command may use as head has it"}) {
		t.Errorf("dns: got %q", got)
	}
	if got := edits.Of("quay"); len(got) > 0 {
		t.Errorf("quay: got %q", got)
	}
}

// Edits are looked for where base and head are of one checkout.
func TestFindEditsWhereRulesAreOfBase(t *testing.T) {
	trouble := errors.New("no such commit")
	edited := compared(files(baseFiles()), files(map[string]string{".gitlab-ci.yml": "new"}))
	for _, tt := range []struct {
		name   string
		path   string
		inJob  bool
		found  *rules.Comparison
		err    error
		note   string
		editOf string
	}{
		{name: "settings of a file", found: edited, note: "head edits .gitlab-ci.yml", editOf: ".gitlab-ci.yml"},
		{name: "settings of a file, not of one repository"},
		{name: "settings of a file in a job", inJob: true, found: edited, note: "head edits .gitlab-ci.yml",
			editOf: ".gitlab-ci.yml"},
		{name: "not of one repository", path: "prcheck.yaml",
			note: "is not known, since base and head are not both of one checkout"},
		{name: "trouble", path: "prcheck.yaml", err: trouble},
	} {
		t.Run(tt.name, func(t *testing.T) {
			edits, err := rules.FindEdits(rules.Input{IsData: isData,
				Settings: rules.SideSettings{Settings: parse(t, "version: 1\n"), Path: tt.path}, InJob: tt.inJob,
				Compare: func() (*rules.Comparison, error) { return tt.found, tt.err },
			})
			if !errors.Is(err, tt.err) {
				t.Fatalf("got %v, want %v", err, tt.err)
			}
			notes := strings.Join(edits.Notes, "\n")
			if tt.note == "" && notes != "" || !strings.Contains(notes, tt.note) {
				t.Errorf("got the notes %q, want %q", notes, tt.note)
			}
			if tt.editOf != "" && !slices.Contains(edits.Of("x"), tt.editOf) || tt.editOf == "" && edits.Of != nil {
				t.Errorf("want the edit %q", tt.editOf)
			}
		})
	}
}
