package script

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// programsVariable names a folder with the programs of this checkout, so that each test does not link them.
const programsVariable = "PRCHECK_PROGRAMS"

// Programs returns a folder with planner, runner and reconciler, which it builds unless PRCHECK_PROGRAMS names one.
// The test must not write to it.
func Programs(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv(programsVariable); dir != "" {
		for _, name := range []string{"planner", "runner", "reconciler"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil { // also so that other programs are another test
				t.Fatalf("%s: %v", programsVariable, err)
			}
		}
		return filepath.Clean(dir)
	}
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", dir+"/", "github.com/app-sre/prcheck/cmd/...")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// Program returns the file of a program that tests start, by its name in PATH.
func Program(t testing.TB, name string) string {
	t.Helper()
	file, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// Output runs a command and returns its exit code and all of its output.
func Output(t testing.TB, cmd *exec.Cmd) (code int, text string) {
	t.Helper()
	var all strings.Builder
	cmd.Stdout, cmd.Stderr = &all, &all
	err := cmd.Run()
	if ended := (*exec.ExitError)(nil); err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), all.String()
}
