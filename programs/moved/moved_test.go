package moved_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/script"
)

// Every old spelling does as the program reconciler does, with the same arguments, output and exit code, and says so.
func TestSpellings(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot become another one here")
	}
	dir := script.Programs(t)
	run := func(name string, args ...string) (code int, stdout, stderr string) {
		t.Helper()
		var out, told bytes.Buffer
		cmd := exec.CommandContext(t.Context(), name, args...) //nolint:gosec // the programs that are tested
		cmd.Stdout, cmd.Stderr, cmd.Dir = &out, &told, t.TempDir()
		cmd.Env = append(os.Environ(), "INTEGRATION_NAME=")
		err := cmd.Run()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), out.String(), told.String()
	}
	for _, c := range []struct{ program, was, is string }{
		{"runner", "reconcile", "run"},
		{"runner", "take-over", "take-over"},
		{"runner", "status", "status"},
		{"runner", "webhook", "webhook"},
		{"runner", "import", "import"},
		{"planner", "api", "api"},
	} {
		for _, args := range [][]string{{"--help"}, {"--colour", "red"}, {"a", "b", "c"}} {
			wantCode, wantOut, wantErr := run(filepath.Join(dir, "reconciler"), append([]string{c.is}, args...)...)
			code, stdout, stderr := run(filepath.Join(dir, c.program), append([]string{c.was}, args...)...)
			note, rest, _ := strings.Cut(stderr, "\n")
			if code != wantCode || stdout != wantOut || rest != wantErr {
				t.Errorf("%s %s %q: got %d %q %q, want %d %q %q", c.program, c.was, args, code, stdout, rest, wantCode, wantOut,
					wantErr)
			}
			if want := c.program + ": " + c.was + " is reconciler " + c.is +
				" now; version 0.7 will not know the old spelling"; note != want {
				t.Errorf("got the note %q, want %q", note, want)
			}
		}
		alone := filepath.Join(t.TempDir(), c.program)
		if err := os.Link(filepath.Join(dir, c.program), alone); err != nil {
			raw, err := os.ReadFile(filepath.Join(dir, c.program))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(alone, raw, 0o700); err != nil { //nolint:gosec // a program
				t.Fatal(err)
			}
		}
		if code, stdout, stderr := run(alone, c.was, "--help"); code != 2 || stdout != "" ||
			!strings.Contains(stderr, "needs the program reconciler in the folder of "+c.program) {
			t.Errorf("without reconciler: got %d %q %q", code, stdout, stderr)
		}
	}
}
