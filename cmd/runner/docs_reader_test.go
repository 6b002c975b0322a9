package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/armtest"
)

// A reader follows a document in a sandbox.
type reader struct {
	t   *testing.T
	dir string // where the next command starts
	env []string
}

// newReader makes a sandbox, in which the folder prcheck is what people unpack or clone.
func newReader(t *testing.T, bin, examples string) *reader {
	t.Helper()
	work := t.TempDir()
	if err := os.CopyFS(filepath.Join(work, "prcheck", "examples"), os.DirFS(examples)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(work, "home"), 0o700); err != nil {
		t.Fatal(err)
	}
	const moment = "1700000000 +0000" // of all commits, so that they always have the same ids
	r := &reader{t: t, dir: work, env: []string{
		"HOME=" + filepath.Join(work, "home"), "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_DATE=" + moment, "GIT_COMMITTER_DATE=" + moment, "LC_ALL=C.UTF-8",
	}}
	t.Cleanup(func() {
		if raw, err := os.ReadFile(filepath.Join(work, "home", "pid")); err == nil { // of a server that the document needs
			_ = exec.Command("kill", strings.TrimSpace(string(raw))).Run() //nolint:gosec,noctx // of a process of this test
		}
	})
	return r
}

// startCloud serves the simulated cloud, and gives the reader the variables that lead to it.
func (r *reader) startCloud() {
	r.t.Helper()
	s := armtest.New(r.t)
	r.env = append(r.env, "CLOUD="+s.URL, "PRCHECK_CLOUD_EXAMPLE_TOKEN="+s.Token,
		"PRCHECK_CLOUD_SESSIONS_PASSWORD=a-password", "PRCHECK_CLOUD_WEB_PASSWORD=another-password")
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
			r.t.Errorf("line %d: the document is not up to date: run this test with -update\n$ %s\ngot\n%s\nwant\n%s", s.line,
				s.command, s.got, s.want)
		}
	}
}

// run runs a command in the folder that the last command left, and returns what it prints
// and its exit code.
func (r *reader) run(command string) (out, code string) {
	at := filepath.Join(r.t.TempDir(), "at")
	script := "if [ -e \"$HOME/variables\" ]; then . \"$HOME/variables\"; fi\n" + command + "\ncode=$?\npwd >\"" + at +
		"\"\nexit $code\n"
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
	minutes       = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d UTC`)
	seconds       = regexp.MustCompile(`, [\d.]+s, log `)
)

// steady replaces what differs each time: durations, times and hashes.
func steady(out string) string {
	out = minutes.ReplaceAllString(out, "2026-01-02 03:04 UTC")
	return seconds.ReplaceAllString(hashes.ReplaceAllString(timeless(out), "123456789abc"), ", 0.2s, log ")
}
