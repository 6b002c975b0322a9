package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected output, here and in the README")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"runner": main, "task": task})
}

// Each script runs in a folder with the bundles of the shop of examples/; the
// tasks are those of the program task.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition: func(name string) (bool, error) {
			return name == "root" && os.Getuid() == 0, nil
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("PRCHECK_DEBUG", "1")          // a panic would fill stderr
			e.Setenv("GORACE", "atexit_sleep_ms=0") // or each command waits a second
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
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "replace": replace, "await": await, "nowhere": nowhere,
		},
	})
}

// exits CODE PROGRAM ARG... runs a program and wants that exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if want, err := strconv.Atoi(args[0]); err != nil || code != want {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// replace FILE OLD NEW changes a text that must be in the file.
func replace(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not contain %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, args[1], args[2])), 0o600))
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
