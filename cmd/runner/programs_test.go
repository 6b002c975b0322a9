package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/app-sre/prcheck/natives"
	"github.com/app-sre/prcheck/natives/connect"
	"github.com/app-sre/prcheck/programs/reconciler"
)

func TestMain(m *testing.M) {
	testscript.Main(withPrograms{m}, map[string]func(){"runner": main, "reconciler": reconcilerMain})
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
