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

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/app-sre/prcheck/plan"
)

var update = flag.Bool("update", false, "rewrite the expected output in the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"planner": main})
}

// Each script runs in a folder that holds the shop of examples/.
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
			return os.CopyFS(filepath.Join(e.WorkDir, "shop"), os.DirFS("../../examples/shop"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "replace": replace, "cut": cut, "forget": forget,
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
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, args[1], args[2])), 0o644))
}

// cut FILE BYTES keeps the beginning of a file.
func cut(ts *testscript.TestScript, _ bool, args []string) {
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), size))
}

// forget PLAN INTEGRATION makes a plan skip an integration, and seals it again.
func forget(ts *testscript.TestScript, _ bool, args []string) {
	p, err := plan.Read(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	for i := range p.Integrations {
		if d := &p.Integrations[i]; d.Name == args[1] {
			d.Decision, d.Rung, d.Reason, d.Tasks = plan.Skip, plan.RungState, "trust me", nil
		}
	}
	var tasks []plan.Task
	for _, t := range p.Tasks {
		if t.Integration != args[1] {
			tasks = append(tasks, t)
		}
	}
	p.Tasks = tasks
	ts.Check(p.Seal())
	var out strings.Builder
	ts.Check(plan.Write(&out, p))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(out.String()), 0o644))
}
