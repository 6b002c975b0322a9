package main

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/doubles/fakes3"
	"github.com/app-sre/prcheck/internal/script"
	"github.com/app-sre/prcheck/wrapper"
)

var update = flag.Bool("update", false, "rewrite the expected output, here and in the README")

// Each script runs in a folder with the bundles of the shop of examples/, and its tasks
// start the program task. The folders qontract, office and saas hold these examples.
func TestScripts(t *testing.T) {
	bundles := func(e *testscript.Env) error {
		for _, name := range []string{"base.json", "head.json"} {
			raw, err := os.ReadFile("../../testdata/shop/" + name)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(e.WorkDir, name), raw, 0o600); err != nil {
				return err
			}
		}
		e.Values[labKey{}] = &lab{}
		e.Values[clusterKey{}] = &lastCluster{}
		for _, name := range []string{"office", "saas"} {
			if err := os.CopyFS(filepath.Join(e.WorkDir, name), os.DirFS("../../examples/"+name)); err != nil {
				return err
			}
		}
		return os.CopyFS(filepath.Join(e.WorkDir, "qontract"), os.DirFS("../../examples/qontract-reconcile"))
	}
	script.Run(t, *update, bundles, map[string]script.Command{"log": showLog, "cut": cut,
		"pipeline": pipeline, "gone": gone, "gitlab": gitlab, "bucket": bucket, "cluster": cluster,
		"nothing_shown": nothingShown, "effects": effects, "looked": looked, "keygen": keygen})
}

// looked FILE gives the results of a file effects: none of the tasks announces any.
func looked(ts *testscript.TestScript, _ bool, args []string) {
	file := ts.MkAbs(args[0])
	text := strings.ReplaceAll(ts.ReadFile(args[0]), `"status": "passed",`,
		`"status": "passed", "effects": {"items": []},`)
	ts.Check(os.WriteFile(file, []byte(text), 0o600))
}

// gone FILE waits until the process whose id is in a file is gone.
func gone(ts *testscript.TestScript, _ bool, args []string) {
	pid, err := strconv.Atoi(ts.ReadFile(args[0]))
	ts.Check(err)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		process, err := os.FindProcess(pid)
		if err != nil || process.Signal(syscall.Signal(0)) != nil || zombie(pid) {
			return
		}
	}
	ts.Fatalf("process %d is still there", pid)
}

// zombie reports whether a process has ended and was not waited for. A container may leave
// such processes.
func zombie(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(raw), ") Z ")
}

// varying is what differs each time: the port of a task's server, and the
// folder of its config file.
var varying = regexp.MustCompile(`(127\.0\.0\.1:)\d+|"[^"]*(/config")`)

// log FOLDER TASK prints the log of a task. Parts that differ each time are printed as dots.
func showLog(ts *testscript.TestScript, _ bool, args []string) {
	raw, err := os.ReadFile(filepath.Join(ts.MkAbs(args[0]), wrapper.LogName(args[1])))
	ts.Check(err)
	_, err = ts.Stdout().Write(varying.ReplaceAll(raw, []byte("$1...$2")))
	ts.Check(err)
}

// nothing_shown wants that the last command showed nothing of the secret of links_attack,
// and that the file that links lead to is as it was.
func nothingShown(ts *testscript.TestScript, _ bool, _ []string) {
	const secret = "open-sesame-0123"
	work := ts.Getenv("WORK")
	for _, name := range []string{"stdout", "stderr", filepath.Join(work, "project", "prcheck", "note.md")} {
		if !strings.HasPrefix(name, "std") {
			if _, err := os.Stat(name); err != nil {
				continue
			}
		}
		if strings.Contains(ts.ReadFile(name), secret) {
			ts.Fatalf("%s shows the secret", name)
		}
	}
	if raw := ts.ReadFile(filepath.Join(work, "variable")); raw != secret+"\n" {
		ts.Fatalf("the file is %q now", raw)
	}
}

// keygen FILE makes a key pair, as planner upkeep keygen does, and prints the settings.
func keygen(ts *testscript.TestScript, _ bool, args []string) {
	public, err := change.MakeKey(ts.MkAbs(args[0]))
	ts.Check(err)
	_, err = fmt.Fprintf(ts.Stdout(), "state:\n  keys: [%q]\n", public)
	ts.Check(err)
}

// cut FOLDER truncates every file below a folder to its first half.
func cut(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Truncate(path, info.Size()/2)
	}))
}

// pipeline BASE HEAD FLAG... runs precheck for the commits whose ids are in two files, as a
// pipeline names them.
func pipeline(ts *testscript.TestScript, _ bool, args []string) {
	base, head := strings.TrimSpace(ts.ReadFile(args[0])), strings.TrimSpace(ts.ReadFile(args[1]))
	ts.Check(ts.Exec("runner", append([]string{"precheck", "--base", "git:" + base, "--head", "git:" + head},
		args[2:]...)...))
}

// bucket FAULT starts an S3 server with the empty bucket "memory" and a fault: none, it
// ignores conditions, it refuses writes, or it is down.
func bucket(ts *testscript.TestScript, _ bool, args []string) {
	fake := fakes3.New()
	fault, known := map[string]func(method string) fakes3.Fault{
		"none":    func(string) fakes3.Fault { return fakes3.Fault{} },
		"ignores": func(string) fakes3.Fault { return fakes3.Fault{Ignore: true} },
		"refuses": func(method string) fakes3.Fault {
			if method == http.MethodPut || method == http.MethodDelete {
				return fakes3.Fault{Status: http.StatusForbidden}
			}
			return fakes3.Fault{}
		},
		"down": func(string) fakes3.Fault { return fakes3.Fault{Status: http.StatusServiceUnavailable} },
	}[args[0]]
	if !known {
		ts.Fatalf("unknown fault %q", args[0])
	}
	fake.Fail(func(r *http.Request) fakes3.Fault { return fault(r.Method) })
	h := httptest.NewServer(fake)
	ts.Defer(h.Close)
	fake.URL = h.URL
	for name, value := range fake.Environ() {
		ts.Setenv(name, value)
	}
}
