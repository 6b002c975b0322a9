package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A document's blocks of commands are run in order, by one reader: in one folder, with an
// empty home. A block "sh" has commands alone. A block "console" has commands after "$ ",
// each with what it prints. A command that ends with "# exit code N" must end with it, all
// others with 0.
var documents = []struct {
	name    string
	prepare string // commands that the reader ran before
	whole   bool   // whether no block may be left out
}{
	{name: "docs/tutorial.md", whole: true},
	{name: "docs/doctor.md", prepare: office, whole: true},
	{name: "README.md", prepare: office + newPerson},
	{name: "docs/how-it-works.md", prepare: office + bundles},
}

// office makes the repository of the tutorial.
const office = `cp -r prcheck/examples/office office
cd office
git init --quiet --initial-branch main
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

// notRun marks a block that no test runs, and says why.
var notRun = regexp.MustCompile(`^<!-- not run: (.+) -->$`)

func TestDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds planner")
	}
	for _, program := range []string{"bash", "git", "python3", "curl", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the documents need %s: %v", program, err)
		}
	}
	bin := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "../../cmd/...").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Run("commands", func(t *testing.T) { checkCommands(t, bin) })
	for _, doc := range documents {
		t.Run(doc.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join("../..", doc.name)
			blocks, err := parseBlocks(read(t, file))
			if err != nil {
				t.Fatal(err)
			}
			r := newReader(t, bin)
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

// checkCommands checks that docs/commands.md has a row for every command.
func checkCommands(t *testing.T, bin string) {
	t.Helper()
	page := read(t, "../../docs/commands.md")
	row := regexp.MustCompile(`(?m)^  ([a-z]+) {2,}\S`)
	for _, program := range []string{"planner", "runner"} {
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

// A block is a fenced block of commands.
type block struct {
	line    int // of its fence
	end     int // of the fence that closes it
	console bool
	why     string // why it is not run; "" if it is
	steps   []step
}

// A step is a command with what the document says that it prints.
type step struct {
	line    int // of the command
	end     int // of the first line behind the output
	command string
	code    string
	want    string
	got     string // set when the output is to be rewritten
}

var exitCode = regexp.MustCompile(`\s+# exit code (\d+)$`)

// parseBlocks finds the blocks of commands of a document. Lines are counted from 0.
func parseBlocks(text string) ([]block, error) {
	lines := strings.Split(text, "\n")
	var out []block
	for i := 0; i < len(lines); i++ {
		kind, fenced := strings.CutPrefix(lines[i], "```")
		if !fenced {
			continue
		}
		b := block{line: i, console: kind == "console"}
		for i++; i < len(lines) && lines[i] != "```"; i++ {
		}
		if b.end = i; i == len(lines) {
			return nil, fmt.Errorf("line %d: the block does not end", b.line+1)
		}
		if kind != "console" && kind != "sh" {
			continue
		}
		if m := notRun.FindStringSubmatch(lines[max(b.line-1, 0)]); m != nil {
			b.why = m[1]
		} else if err := b.parse(lines); err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

// parse finds the commands of a block.
func (b *block) parse(lines []string) error {
	for i := b.line + 1; i < b.end; {
		text, isCommand := lines[i], true
		if b.console {
			text, isCommand = strings.CutPrefix(lines[i], "$ ")
		}
		if !isCommand {
			return fmt.Errorf("line %d: a block of commands begins with an output", i+1)
		}
		s := step{line: i, code: "0"}
		for i++; strings.HasSuffix(text, `\`) && i < b.end; i++ {
			text += "\n" + strings.TrimPrefix(lines[i], "> ")
		}
		if m := exitCode.FindStringSubmatch(text); m != nil {
			s.code = m[1]
		}
		s.command = text
		from := i
		for b.console && i < b.end && !strings.HasPrefix(lines[i], "$ ") {
			i++
		}
		s.line, s.end, s.want = from, i, strings.Join(lines[from:i], "\n")
		b.steps = append(b.steps, s)
	}
	return nil
}

// rewritten returns a document with the outputs that are to be rewritten.
func rewritten(text string, blocks []block) string {
	lines := strings.Split(text, "\n")
	var out []string
	next := 0
	for _, b := range blocks {
		for _, s := range b.steps {
			if s.got != "" {
				out = append(append(out, lines[next:s.line]...), strings.Split(s.got, "\n")...)
				next = s.end
			}
		}
	}
	return strings.Join(append(out, lines[next:]...), "\n")
}

// A reader follows a document in a sandbox.
type reader struct {
	t   *testing.T
	dir string // where the next command starts
	env []string
}

// newReader makes a sandbox, in which the folder prcheck is what people unpack or clone.
func newReader(t *testing.T, bin string) *reader {
	t.Helper()
	work := t.TempDir()
	if err := os.CopyFS(filepath.Join(work, "prcheck", "examples"), os.DirFS("../../examples")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(work, "home"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := &reader{t: t, dir: work}
	const person = "ana"
	for _, role := range []string{"AUTHOR", "COMMITTER"} {
		r.env = append(r.env, "GIT_"+role+"_NAME="+person, "GIT_"+role+"_EMAIL="+person+"@example.org", "GIT_"+role+"_DATE=1700000000 +0000")
	}
	r.env = append(r.env, "HOME="+filepath.Join(work, "home"), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C.UTF-8")
	return r
}

// follow runs the commands of a block and compares what they print.
func (r *reader) follow(b *block) {
	for i := range b.steps {
		s := &b.steps[i]
		got, code := r.run(s.command)
		if code != s.code {
			r.t.Fatalf("line %d: exit code %s, want %s\n$ %s\n%s", s.line, code, s.code, s.command, got)
		}
		if !b.console || steady(got) == steady(s.want) {
			continue
		}
		if s.got = timeless(got); !*update {
			r.t.Errorf("line %d: the document is not up to date: run this test with -update\n$ %s\ngot\n%s\nwant\n%s", s.line, s.command, s.got, s.want)
		}
	}
}

// run runs a command in the folder that the last command left, and returns what it prints
// and its exit code.
func (r *reader) run(command string) (out, code string) {
	at := filepath.Join(r.t.TempDir(), "at")
	script := command + "\ncode=$?\npwd >\"" + at + "\"\nexit $code\n"
	cmd := exec.CommandContext(r.t.Context(), "bash", "-c", script)
	cmd.Dir, cmd.Env = r.dir, r.env
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &printed
	code = "0"
	if err := cmd.Run(); err != nil {
		code = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if raw, err := os.ReadFile(at); err == nil {
		r.dir = strings.TrimSpace(string(raw))
	}
	return progressLines.ReplaceAllString(strings.TrimSuffix(printed.String(), "\n"), ""), code
}

var (
	progressLines = regexp.MustCompile(`(?m)^\[ *(?:\d+m)?\d+s\] .*\n`)
	hashes        = regexp.MustCompile(`\b[0-9a-f]{12}\b`)
	seconds       = regexp.MustCompile(`, [\d.]+s, log `)
)

// steady replaces what differs each time: durations and hashes.
func steady(out string) string {
	return seconds.ReplaceAllString(hashes.ReplaceAllString(timeless(out), "123456789abc"), ", 0.2s, log ")
}
