package reconcile_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

var update = flag.Bool("update", false, "rewrite testdata/tasks.txt")

// TestTasks makes a plan with the settings of the example. The bundles have an
// integration of each kind, and testdata/tasks.txt says how each task is started.
func TestTasks(t *testing.T) {
	settings, p := planned(t)
	var b strings.Builder
	for _, task := range p.Tasks {
		show(&b, task, settings)
	}
	const golden = "testdata/tasks.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	if len(p.Warnings) > 0 {
		t.Errorf("got warnings %q", p.Warnings)
	}
}

// planned reads the settings and makes the plan.
func planned(t *testing.T) (*settings.Settings, *plan.Plan) {
	t.Helper()
	raw, err := os.ReadFile("prcheck.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := settings.Read("prcheck.yaml", raw)
	if err != nil {
		t.Fatal(err)
	}
	base, err := bundle.Open(filepath.Join("testdata", "base.json"), nil)
	if err != nil {
		t.Fatal(err)
	}
	head, err := bundle.Open(filepath.Join("testdata", "head.json"), base)
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Make(t.Context(), planner.Input{
		Base: base, Head: head, BaseRef: "base.json", HeadRef: "head.json", Settings: rules,
		ReadQuery: func(path string) ([]byte, error) { return os.ReadFile(filepath.FromSlash(path)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return rules, p
}

// show writes the command, the environment and the config file of a task.
func show(b *strings.Builder, task plan.Task, rules *settings.Settings) {
	var holds []settings.Condition
	for _, c := range task.When {
		holds = append(holds, settings.Condition(c))
	}
	exec := rules.For(task.Integration).Exec.ForConditions(holds, "")
	fmt.Fprintf(b, "%s, up to %s\n", task.ID, task.Timeout)
	if task.Blocked != "" {
		fmt.Fprintf(b, "  blocked  %s\n", task.Blocked)
	}
	fmt.Fprintf(b, "  when     %s\n", strings.Join(task.When, " "))
	fmt.Fprintf(b, "  argv     %q\n", task.Argv)
	for _, name := range slices.Sorted(maps.Keys(exec.Env)) {
		fmt.Fprintf(b, "  env      %s=%s\n", name, exec.Env[name])
	}
	fmt.Fprintf(b, "  pass     %s\n", strings.Join(exec.PassEnv, " "))
	for line := range strings.Lines(exec.Config) {
		fmt.Fprintf(b, "  config   %s", line)
	}
	b.WriteString("\n")
}
