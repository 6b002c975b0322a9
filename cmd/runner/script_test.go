package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/app-sre/prcheck/internal/script"
)

var update = flag.Bool("update", false, "rewrite the expected output, here and in the README")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"runner": main, "task": task})
}

// Each script runs in a folder with the bundles of the shop of examples/; the
// tasks are those of the program task.
func TestScripts(t *testing.T) {
	bundles := func(e *testscript.Env) error {
		for _, name := range []string{"base.json", "head.json"} {
			raw, err := os.ReadFile("../../examples/shop/" + name)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(e.WorkDir, name), raw, 0o600); err != nil {
				return err
			}
		}
		return nil
	}
	script.Run(t, *update, bundles, map[string]script.Command{"await": await, "nowhere": nowhere})
}

// await FILE waits until a file is there.
func await(ts *testscript.TestScript, _ bool, args []string) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
	}
	ts.Fatalf("%s did not come", args[0])
}

// nowhere TEXT wants that no file here contains a text, bundles and settings
// aside, nor the last output.
func nowhere(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range []string{"stdout", "stderr"} {
		if strings.Contains(ts.ReadFile(name), args[0]) {
			ts.Fatalf("%s contains %q", name, args[0])
		}
	}
	ts.Check(filepath.WalkDir(ts.MkAbs("."), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if strings.Contains(string(raw), args[0]) {
			ts.Fatalf("%s contains %q", path, args[0])
		}
		return err
	}))
}
