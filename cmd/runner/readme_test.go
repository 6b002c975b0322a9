package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/natives"
	"github.com/app-sre/prcheck/programs/runner"
)

// shopCommand is the command of the README that needs no checkout.
const shopCommand = "go run ./cmd/runner precheck --config examples/shop/prcheck.yaml --base examples/shop/base.json --head examples/shop/head.json"

func read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// The README has a command that needs no checkout, and a page of docs shows its output. The
// test runs the command with the programs of the shop; only the folder for logs is different.
func TestReadme(t *testing.T) {
	t.Chdir("../..")
	const page = "docs/how-it-works.md"
	for _, name := range []string{"README.md", page} {
		if !strings.Contains(read(t, name), shopCommand) {
			t.Errorf("%s does not have the command %q", name, shopCommand)
		}
	}
	readme := read(t, page)
	args := strings.TrimPrefix(shopCommand, "go run ./cmd/runner ")
	var stdout, stderr bytes.Buffer
	env := cli.Env{
		Args:   append(strings.Fields(args), "--logs", t.TempDir()),
		Stdin:  strings.NewReader(""),
		Stdout: &stdout, Stderr: &stderr, Getenv: os.Getenv,
	}
	if code := cli.Run(t.Context(), "runner", env, func(ctx context.Context, env cli.Env) error {
		return runner.Run(ctx, env, integration.DryRunners(natives.List(natives.Services{}))...)
	}); code != cli.ExitOK {
		t.Fatalf("exit code %d\n%s%s", code, &stdout, &stderr)
	}
	if n := strings.Count(stderr.String(), "/2 passed "); n != 2 {
		t.Errorf("progress on stderr: %q", &stderr)
	}
	got := timeless(stdout.String())
	const marker = "<!-- The test of cmd/runner holds this block to what the command prints. -->\n```text\n"
	before, rest, ok := strings.Cut(readme, marker)
	want, after, closed := strings.Cut(rest, "```\n")
	if !ok || !closed {
		t.Fatal(page + " has no block for the output")
	}
	if *update && got != want {
		if err := os.WriteFile(page, []byte(before+marker+got+"```\n"+after), 0o600); err != nil {
			t.Fatal(err)
		}
		want = got
	}
	if got != want {
		t.Errorf("the page is not up to date: run this test with -update\ngot\n%s\nwant\n%s", got, want)
	}
}

var times = regexp.MustCompile(`(?m)^  \S+ +(?:\d+m)?[\d.]+s  `)

// timeless replaces all durations in the right-aligned column of durations by the same one.
func timeless(report string) string {
	const instead = "0.2s"
	widest := 0
	for _, row := range times.FindAllString(report, -1) {
		fields := strings.Fields(row)
		widest = max(widest, len(fields[len(fields)-1]))
	}
	return times.ReplaceAllStringFunc(report, func(row string) string {
		row = strings.TrimSuffix(row, "  ")
		return row[:len(row)-widest] + instead + "  "
	})
}

func TestTimeless(t *testing.T) {
	const got = "Tasks (2)\n  a       0.1s  passed\n  long  2m03s  passed\n  x took 3s  of time\n"
	const want = "Tasks (2)\n  a      0.2s  passed\n  long  0.2s  passed\n  x took 3s  of time\n"
	if out := timeless(got); out != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}

// The README and CONTRIBUTING tell people to run the same commands that CI runs.
func TestDocumentedCommands(t *testing.T) {
	t.Chdir("../..")
	script := strings.ReplaceAll(read(t, ".ci/run"), "\\\n", " ")
	var lines []string
	for line := range strings.Lines(script) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	all := "\n" + strings.Join(lines, "\n") + "\n"
	if !strings.Contains(all, "\n"+shopCommand+"\n") {
		t.Errorf(".ci/run does not call the README's %q", shopCommand)
	}
	guide := read(t, "CONTRIBUTING.md")
	for _, command := range []string{"go test ./...", "make check"} {
		if !strings.Contains(guide, "    "+command+" ") {
			t.Errorf("CONTRIBUTING does not name %q", command)
		}
	}
	if !strings.Contains(all, "\ngo test ./...\n") {
		t.Error(".ci/run does not call CONTRIBUTING's tests")
	}
	if !strings.Contains(read(t, "Makefile"), "\ncheck: ## everything that CI checks\n\t.ci/run\n") {
		t.Error("make check does not call .ci/run")
	}
}
