package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/app-sre/prcheck/natives"
	"github.com/app-sre/prcheck/natives/connect"
	"github.com/app-sre/prcheck/programs/runner"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"reconciler": main, "runner": runnerMain, "keeper": keeper,
		"pipeliner": pipeliner})
}

// runnerMain is the program runner.
func runnerMain() { os.Exit(runner.Main(natives.List(connect.Services())...)) }

func read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// removeLeases removes the leases of a killed run: that of the run, and those of the parts that it
// wrote.
func removeLeases(t *testing.T, state string) {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(state, "native", "*", "leases"))
	if err != nil {
		t.Error(err)
	}
	for _, folder := range append(folders, filepath.Join(state, "leases")) {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	}
}
