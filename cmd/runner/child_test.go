package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	childOf "github.com/app-sre/prcheck/ci/pipeline"
	"github.com/app-sre/prcheck/plan"
)

// The jobs of a child pipeline together run each task of the plan once. Each instance of a
// job is run by a shell, as GitLab does.
func TestChildPipeline(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"base.json", "head.json"} {
		raw, err := os.ReadFile("../../testdata/shop/" + name)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), string(raw))
	}
	write(t, filepath.Join(dir, "prcheck.yaml"),
		"version: 1\nexec: {argv: [task, say, \"hello {name}\"], pass_env: [GORACE]}\n")
	if err := os.Mkdir(filepath.Join(dir, "prcheck"), 0o700); err != nil {
		t.Fatal(err)
	}
	shell(t, dir, "", "runner precheck --base base.json --head head.json --plan prcheck/plan.json")
	raw, err := os.ReadFile(filepath.Join(dir, "prcheck", "plan.json"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Read(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	for _, parts := range []int{2, 3, 4} {
		shell(t, dir, "", "rm -rf prcheck/results")
		if ran := runChild(t, dir, p, parts); ran != parts {
			t.Errorf("%d instances ran, want %d", ran, parts)
		}
		var results []*plan.Results
		for i := range parts {
			f, err := os.Open(filepath.Join(dir, "prcheck", "results", "results-"+strconv.Itoa(i+1)+".json"))
			if err != nil {
				t.Fatal(err)
			}
			rs, err := plan.ReadResults(f)
			_ = f.Close() // it was only read
			if err != nil || rs.Part.String() != strconv.Itoa(i+1)+"/"+strconv.Itoa(parts) {
				t.Errorf("part %d is %q, %v", i+1, rs.Part, err)
			}
			results = append(results, rs)
		}
		all, err := plan.MergeResults(p, results...) // which refuses a task that ran twice
		if err != nil || all.Failed() || len(all.Results) != len(p.Tasks) {
			t.Errorf("%d parts: got %+v, %v", parts, all, err)
		}
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// runChild runs the instances of the jobs that run parts, and returns their number.
func runChild(t *testing.T, dir string, p *plan.Plan, parts int) (ran int) {
	t.Helper()
	var text bytes.Buffer
	if err := childOf.Write(&text, p, childOf.Options{Parts: parts}); err != nil {
		t.Fatal(err)
	}
	var jobs map[string]yaml.Node
	if err := yaml.Unmarshal(text.Bytes(), &jobs); err != nil {
		t.Fatal(err)
	}
	for name, node := range jobs {
		if !strings.HasPrefix(name, "prcheck-part") {
			continue
		}
		var job struct {
			Parallel int
			Script   []string
		}
		if err := node.Decode(&job); err != nil {
			t.Fatal(err)
		}
		// all share a folder here
		script := slices.DeleteFunc(job.Script, func(line string) bool { return strings.HasPrefix(line, "rm ") })
		for i := range max(job.Parallel, 1) {
			node := ""
			if job.Parallel > 0 {
				node = strconv.Itoa(i + 1)
			}
			shell(t, dir, node, strings.Join(script, "\n"))
			ran++
		}
	}
	return ran
}

func shell(t *testing.T, dir, node, script string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-euc", script) //nolint:gosec // what the test says
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CI_NODE_INDEX="+node, `PRCHECK_RUN_FLAGS=["--jobs", "1", "--progress", "none"]`,
		"GORACE=atexit_sleep_ms=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
}
