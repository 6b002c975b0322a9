package script

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// Command is a command that scripts can use.
type Command = func(ts *testscript.TestScript, negated bool, args []string)

// Run runs the scripts in testdata/script. The function setup fills the folder in which a
// script runs. Scripts may use the commands of cmds, the commands exits, replace, commit,
// await, nowhere and canary, and the condition root. With update, Run rewrites the expected
// output in the scripts.
func Run(t *testing.T, update bool, setup func(*testscript.Env) error, cmds map[string]Command) {
	t.Helper()
	all := map[string]Command{"exits": exits, "replace": replace, "commit": commit, "await": await, "nowhere": nowhere,
		"canary": canary}
	maps.Copy(all, cmds)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition: func(name string) (bool, error) {
			return name == "root" && os.Getuid() == 0, nil
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("NO_COLOR", "1")               // also in scripts that play a GitLab job
			e.Setenv("PRCHECK_DEBUG", "1")          // a panic would fill stderr
			e.Setenv("GORACE", "atexit_sleep_ms=0") // or each command waits a second
			return setup(e)
		},
		Cmds: all,
	})
}

// exits CODE PROGRAM ARG... runs a program and fails unless it ends with the exit code.
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

// replace FILE OLD NEW replaces a text in a file, and fails if the text is not there.
func replace(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not contain %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, args[1], args[2])), 0o600))
}

// commit VARIABLE REV sets a variable to the hash of a revision of the checkout.
func commit(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(ts.Exec("git", "rev-parse", "--verify", args[1]+"^{commit}"))
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// await FILE waits until a file exists.
func await(ts *testscript.TestScript, _ bool, args []string) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
	}
	ts.Fatalf("%s did not come", args[0])
}

// nowhere TEXT checks that neither the last output nor any file here contains a text.
// Bundles and settings are not checked.
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
