//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/script"
)

// On a terminal the running tasks are drawn, and after ctrl-C only the report is left.
func TestTerminal(t *testing.T) {
	dir := t.TempDir()
	settings := "version: 1\nexec: {argv: [" + script.Program(t, "task") + ", hang, " + filepath.Join(dir, "started") +
		"]}\n"
	if err := os.WriteFile(filepath.Join(dir, "prcheck.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	shop, err := filepath.Abs("../../testdata/shop")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, script.Program(t, "runner"), "precheck", "--base", shop+"/base.json", "--head",
		shop+"/head.json", "--jobs", "2")
	var report bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Env = dir, &report, []string{"TERM=xterm", "GORACE=atexit_sleep_ms=0"}
	ours, theirs, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	cmd.Stdin, cmd.Stderr = theirs, theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} // so that ctrl-C becomes a signal
	if err := pty.Setsize(theirs, &pty.Winsize{Cols: 60, Rows: 20}); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()

	drawn := reading(t, ours, func(all string) bool {
		return strings.Contains(all, "  price-tags  ") && strings.Contains(all, "  supplier-orders  ") &&
			strings.Contains(all, "]  0/4  ")
	})
	if _, err := ours.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	rest := reading(t, ours, func(string) bool { return false })
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != cli.ExitTrouble {
		t.Errorf("got %v, want exit code %d", err, cli.ExitTrouble)
	}
	if want := "FAILED: 4 of 4 tasks did not pass (4 canceled)\n"; !strings.HasSuffix(report.String(), want) {
		t.Errorf("got the report\n%s\nwant it to end with %s", &report, want)
	}
	if strings.Contains(report.String(), "\x1b") {
		t.Error("the report has escapes")
	}
	const end = ": 0 of 4 tasks passed, 4 canceled\x1b[0m\r\nrunner: interrupted\r\n"
	if !strings.HasSuffix(rest, end) {
		t.Errorf("got\n%q\nthen\n%q\nwant %q at the end", drawn, rest, end)
	}
}

// reading returns the text that a terminal receives until a condition holds or the writer
// has closed it.
func reading(t *testing.T, from io.Reader, enough func(string) bool) string {
	t.Helper()
	var all strings.Builder
	buffer := make([]byte, 4096)
	for !enough(all.String()) {
		n, err := from.Read(buffer)
		all.Write(buffer[:n])
		if errors.Is(err, io.EOF) || errors.Is(err, syscall.EIO) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}
