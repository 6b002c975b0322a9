package script

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Command is a command that scripts can use.
type Command = func(ts *testscript.TestScript, negated bool, args []string)

// Run runs the scripts in testdata/script. The function setup fills the folder in which a
// script runs. Scripts may use the commands of cmds, the commands exits, replace and
// commit, and the condition root. With update, Run rewrites the expected output in the
// scripts.
func Run(t *testing.T, update bool, setup func(*testscript.Env) error, cmds map[string]Command) {
	t.Helper()
	all := map[string]Command{"exits": exits, "replace": replace, "commit": commit}
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
