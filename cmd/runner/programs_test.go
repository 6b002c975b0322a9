package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/app-sre/prcheck/natives"
	"github.com/app-sre/prcheck/natives/connect"
	"github.com/app-sre/prcheck/programs/reconciler"
)

func TestMain(m *testing.M) {
	testscript.Main(withPrograms{m}, map[string]func(){"runner": main, "reconciler": reconcilerMain, "keeper": keeper, "pipeliner": pipeliner})
}

// reconcilerMain is the program reconciler.
func reconcilerMain() { os.Exit(reconciler.Main(natives.List(connect.ActingServices())...)) }

// withPrograms builds the programs of testdata/programs before the tests run, and puts
// their folder into PATH.
type withPrograms struct{ *testing.M }

func (m withPrograms) Run() int {
	dir, err := os.MkdirTemp("", "programs")
	if err == nil {
		err = buildPrograms(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "building the programs of tests:", err)
		return 1
	}
	code := m.M.Run()
	_ = os.RemoveAll(dir) // it is temporary
	return code
}

func buildPrograms(dir string) error {
	built := filepath.Join(dir, "task")
	cmd := exec.Command("go", "build", "-o", built, "./testdata/programs") //nolint:noctx // there is none before the tests
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	for _, name := range []string{"qontract-reconcile", "go-qontract-reconcile", "vault-manager"} {
		if err := os.Link(built, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return os.Setenv("PATH", os.Getenv("PATH")+string(filepath.ListSeparator)+dir)
}

// program returns the path of a program that tests start, by its name.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// output runs a command and returns its exit code and all of its output.
func output(t *testing.T, cmd *exec.Cmd) (code int, text string) {
	t.Helper()
	var all strings.Builder
	cmd.Stdout, cmd.Stderr = &all, &all
	err := cmd.Run()
	if ended := (*exec.ExitError)(nil); err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), all.String()
}
