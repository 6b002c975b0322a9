package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/script"
)

// A document's blocks of commands are run in order, by one reader: in one folder, with an
// empty home. A block "sh" has commands alone. A block "console" has commands after "$ ",
// each with what it prints. A command that ends with "# exit code N" must end with it, all
// others with 0.
type document struct {
	name    string
	prepare string // commands that the reader ran before
	whole   bool   // whether no block may be left out
	cloud   bool   // whether the reader has started the service of examples/cloud
}

var documents = []document{
	{name: "docs/tutorial.md", whole: true},
	{name: "docs/doctor.md", prepare: office, whole: true},
	{name: "docs/validation.md", prepare: office + "sed -i.old 's/title/titel/; s/harbor/cellar/' data/people/ana.yml\n",
		whole: true},
	{name: "README.md", prepare: office + newPerson},
	{name: "docs/how-it-works.md", prepare: office + bundles, whole: true},
	{name: "docs/bundling.md", prepare: clone, whole: true},
	{name: "docs/traces.md", prepare: office + bundles + "cp head.json next.json; cp base.json main.json\n", whole: true},
	{name: "docs/reuse.md",
		prepare: office + bundles + "runner precheck --base base.json --head head.json --state ../state >&2\n", whole: true},
	{name: "docs/insights.md",
		prepare: office + bundles + "runner precheck --base base.json --head head.json --state ../state >&2\n", whole: true},
	{name: "docs/board.md",
		prepare: office + bundles + "runner precheck --base base.json --head head.json --state ../state >&2\n", whole: true},
	{name: "docs/audit.md",
		prepare: office + bundles + "runner precheck --base base.json --head head.json --state ../state --base-dir . >&2\n"},
	{name: "docs/report.md", prepare: office + bundles + planParts, whole: true},
	{name: "docs/live.md", prepare: office + bundles + server, whole: true},
	{name: "docs/crash-safety.md",
		prepare: office + bundles + "planner plan --base base.json --head head.json --out plan.json\n"},
	{name: "docs/state.md", prepare: office + bundles},
	{name: "docs/gitlab-note.md"}, {name: "docs/kubernetes.md"}, {name: "docs/serve.md"}, {name: "docs/installing.md"},
	{name: "docs/reconcile.md"}, {name: "docs/natives.md"}, {name: "docs/queue.md"},
	{name: "docs/api.md", prepare: "cp -r prcheck/examples/specs specs\n", whole: true},
	{name: "docs/selftest.md", prepare: office + bundles, whole: true},
	{name: "docs/owners.md", prepare: "cp prcheck/examples/owners/base.json .\n", whole: true},
	{name: "docs/manager.md", prepare: strings.ReplaceAll(office, "office", "integrations")},
	{name: "docs/saas.md", prepare: strings.ReplaceAll(office, "office", "saas")},
	{name: "docs/generic.md",
		prepare: "sed -i.old \"s#http://127.0.0.1:8089#$CLOUD#\" prcheck/examples/cloud/data/cloud/api.yml\n" +
			"rm prcheck/examples/cloud/data/cloud/api.yml.old\n" + strings.ReplaceAll(office, "office", "cloud"), cloud: true},
}

// office makes the repository of the tutorial.
const office = `cp -r prcheck/examples/office office
cd office
git init --quiet --initial-branch main
git config user.name Ana
git config user.email ana@example.org
git add .
git commit --quiet --message office
`

// newPerson makes the first change of the tutorial, and bundles makes it and the bundles of
// both sides.
const (
	newPerson = `git switch --quiet --create dana
sed 's/Bo/Dana/; s/bo@/dana@/' data/people/bo.yml > data/people/dana.yml
`
	bundles = `mkdir resources
make_bundle() {
  planner bundle --data data --resources resources --schemas schemas --graphql graphql-schemas/schema.yml --out $1
}
make_bundle base.json
` + newPerson + `make_bundle head.json
`
)

// What some documents begin with: a clone with schemas beside it, a plan whose parts have run,
// and a server with both bundles.
const (
	clone = office + `mkdir resources
echo hello >resources/hello.txt
git add .
git commit --quiet --message resources
mkdir ../qontract-schemas
cp -r schemas graphql-schemas ../qontract-schemas
cd ..
git clone --quiet office clone
cd clone
`
	planParts = `planner plan --base base.json --head head.json --out plan.json
runner run --plan plan.json --partition 1/2 --out part1.json >&2
runner run --plan plan.json --partition 2/2 --out part2.json >&2
runner run --plan plan.json --out results.json >&2
`
	server = `planner serve --bundle base.json --bundle head.json --listen 127.0.0.1:0 >"$HOME/serve.log" 2>&1 &
echo $! >"$HOME/pid"
until grep -q 'http://' "$HOME/serve.log"; do sleep 0.05; done
sum() { sha256sum "$1" | cut -c 1-64; }
echo "SERVER=$(grep -o 'http://[0-9.:]*' "$HOME/serve.log" | head -n 1) BASE=$(sum base.json) HEAD=$(sum head.json)" >"$HOME/variables"
`
)

// unpacked is the variable with the folder of an unpacked archive of a release. The documents
// are then followed with its programs and its examples.
const unpacked = "PRCHECK_UNPACKED"

func TestDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds planner")
	}
	for _, program := range []string{"bash", "git", "python3", "curl", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the documents need %s: %v", program, err)
		}
	}
	bin, examples := os.Getenv(unpacked), os.Getenv(unpacked)+"/examples"
	if bin == "" {
		bin, examples = script.Programs(t), "../../examples"
	}
	t.Run("all", checkAllDocuments)
	t.Run("commands", func(t *testing.T) { checkCommands(t, bin) })
	for _, doc := range documents {
		t.Run(doc.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join("../..", doc.name)
			blocks, err := parseBlocks(read(t, file))
			if err != nil {
				t.Fatal(err)
			}
			r := newReader(t, bin, examples)
			if doc.cloud {
				r.startCloud()
			}
			if out, code := r.run("set -e\n" + doc.prepare); code != "0" {
				t.Fatalf("preparing: exit code %s\n%s", code, out)
			}
			for i := range blocks {
				if doc.whole && blocks[i].why != "" {
					t.Errorf("line %d: a block is not run: %s", blocks[i].line, blocks[i].why)
				}
				r.follow(&blocks[i])
			}
			if text := rewritten(read(t, file), blocks); *update && text != read(t, file) {
				write(t, file, text)
			}
		})
	}
}

// indented matches a command that is in no fenced block, so that no test would run it.
var indented = regexp.MustCompile(`(?m)^    +(?:\$ )?(?:planner|runner) [a-z]`)

// checkAllDocuments checks that every document with commands is in the table, and that they
// are in fenced blocks.
func checkAllDocuments(t *testing.T) {
	t.Helper()
	names, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(names) == 0 {
		t.Fatalf("found %q, %v", names, err)
	}
	for _, name := range append(names, "../../README.md") {
		text := read(t, name)
		if found := indented.FindString(text); found != "" {
			t.Errorf("%s: %q is in no block sh or console", name, found)
		}
		blocks, err := parseBlocks(text)
		if err != nil {
			t.Fatal(err)
		}
		known := slices.ContainsFunc(documents, func(d document) bool { return d.name == strings.TrimPrefix(name, "../../") })
		if len(blocks) > 0 && !known {
			t.Errorf("%s has blocks of commands, and no test runs them", name)
		}
	}
}

// checkCommands checks that docs/commands.md has a row for every command.
func checkCommands(t *testing.T, bin string) {
	t.Helper()
	page := read(t, "../../docs/commands.md")
	row := regexp.MustCompile(`(?m)^  ([a-z-]+) {2,}\S`)
	for _, program := range []string{"planner", "runner", "reconciler"} {
		out, err := exec.CommandContext(t.Context(), filepath.Join(bin, program), "--help").Output()
		if err != nil {
			t.Fatal(err)
		}
		_, list, _ := strings.Cut(string(out), "Available Commands:\n")
		list, _, _ = strings.Cut(list, "\n\n")
		found := row.FindAllStringSubmatch(list, -1)
		if len(found) < 5 {
			t.Fatalf("%s --help lists %d commands:\n%s", program, len(found), out)
		}
		for _, m := range found {
			if m[1] != "help" && !strings.Contains(page, "`"+program+" "+m[1]) {
				t.Errorf("docs/commands.md does not name %s %s", program, m[1])
			}
		}
	}
}
