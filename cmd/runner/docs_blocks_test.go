package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// notRun marks a block that no test runs, and says why.
var notRun = regexp.MustCompile(`^<!-- not run: (.+) -->$`)

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

func TestParseBlocks(t *testing.T) {
	const text = "# T\n```yaml\na: 1\n```\n<!-- not run: needs a cluster -->\n```sh\nkubectl\n```\n" +
		"```console\n$ one \\\n  two\nout\n$ false  # exit code 1\n```\n```sh\na\nb\n```\n"
	blocks, err := parseBlocks(text)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range blocks {
		got = append(got, fmt.Sprintf("block %t %q", b.console, b.why))
		for _, s := range b.steps {
			got = append(got, fmt.Sprintf("%q %s %q", s.command, s.code, s.want))
		}
	}
	want := []string{
		`block false "needs a cluster"`,
		"block true \"\"", `"one \\\n  two" 0 "out"`, `"false  # exit code 1" 1 ""`,
		`block false ""`, `"a" 0 ""`, `"b" 0 ""`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	blocks[1].steps[0].got = "new\nlines"
	if out := rewritten(text, blocks); out != strings.Replace(text, "\nout\n", "\nnew\nlines\n", 1) {
		t.Errorf("rewritten is\n%s", out)
	}
	for _, wrong := range []string{"```sh\nls\n", "```console\nout\n$ ls\n```\n"} {
		if _, err := parseBlocks(wrong); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}
