package main

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/app-sre/prcheck/internal/script"
	"github.com/app-sre/prcheck/plan"
)

var update = flag.Bool("update", false, "rewrite the expected output in the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"planner": main, "ask": ask})
}

// Each script runs in a folder that holds the shop, the office, the specs, the saas files and the cloud of examples/.
func TestScripts(t *testing.T) {
	shop := func(e *testscript.Env) error {
		if err := os.CopyFS(filepath.Join(e.WorkDir, "office"), os.DirFS("../../examples/office")); err != nil {
			return err
		}
		if err := os.CopyFS(filepath.Join(e.WorkDir, "specs"), os.DirFS("../../examples/specs")); err != nil {
			return err
		}
		if err := os.CopyFS(filepath.Join(e.WorkDir, "saas"), os.DirFS("../../examples/saas")); err != nil {
			return err
		}
		if err := os.CopyFS(filepath.Join(e.WorkDir, "cloud"), os.DirFS("../../examples/cloud")); err != nil {
			return err
		}
		return os.CopyFS(filepath.Join(e.WorkDir, "shop"), os.DirFS("../../testdata/shop"))
	}
	script.Run(t, *update, shop, map[string]script.Command{"cut": cut, "forget": forget, "gitlab": gitlab,
		"bucket": bucket})
}

// ask is a program that asks a GraphQL address each of some queries, and prints
// the answers: ask URL QUERY...
func ask() {
	for _, query := range os.Args[2:] {
		res, err := http.Get(os.Args[1] + "?query=" + url.QueryEscape(query)) //nolint:gosec,noctx // an address of the test
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close() // it was only read
		fmt.Println(string(body))
		if err != nil || res.StatusCode != http.StatusOK {
			os.Exit(1)
		}
	}
	os.Exit(0)
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
