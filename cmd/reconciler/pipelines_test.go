//go:build !race

package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/gitlabtest"
	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/internal/script"
)

const pipelinesNamespace = "shop-pipelines"

// newPipelines is [newShop] on a cluster with Tekton.
func newPipelines(t *testing.T) *shop {
	t.Helper()
	s := newShop(t)
	s.cluster.AddTekton()
	s.cluster.AddPipeline(t, pipelinesNamespace, "o-saas-deploy-shop")
	s.write(t, "prcheck.yaml", strings.Join([]string{
		"version: 1", "secrets: {files: {folder: " + s.dir + "/secrets}}", "integrations:",
		"  saas-deploy: {settings: {records: 's3://memory', hosts: [127.0.0.1], wait: 20s}}",
		"  saas-pipelines: {settings: {records: 's3://memory', hosts: [127.0.0.1], trace: true, repository: 'https://git.example.com/data'}}", "",
	}, "\n"))
	return s
}

// loop runs the loop, and returns exit code and all output.
func (s *shop) loop(t *testing.T, flags ...string) (int, string) {
	t.Helper()
	args := []string{"run", "saas-pipelines", "--bundle", "dir:.", "--config", "prcheck.yaml", "--state", "state",
		"--no-cache"}
	cmd := exec.Command(script.Program(t, "reconciler"), append(args, flags...)...) //nolint:gosec,noctx // the program that is tested
	cmd.Dir, cmd.Env = s.dir, s.env
	return script.Output(t, cmd)
}

// runs returns the names of the PipelineRuns that are there.
func (s *shop) runs() []string {
	var out []string
	for _, path := range s.cluster.Paths() {
		if _, name, ok := strings.Cut(path, "/namespaces/"+pipelinesNamespace+"/pipelineruns/"); ok {
			out = append(out, name)
		}
	}
	return out
}

// The program starts one run for each change, holds what waits, and says so as a table.
func TestReconcilePipelines(t *testing.T) {
	s := newPipelines(t)
	code, text := s.loop(t, "--dry-run")
	if code != 0 || !strings.Contains(text, "shop/stage       start  config") ||
		!strings.Contains(text, "shop/production  held   config") || len(s.runs()) > 0 {
		t.Fatalf("the dry run: %d, %v\n%s", code, s.runs(), text)
	}
	if code, text = s.loop(t, "--no-dry-run"); code != 0 || len(s.runs()) != 1 {
		t.Fatalf("the loop: %d, %v\n%s", code, s.runs(), text)
	}
	first := s.runs()[0]
	if code, text = s.loop(t, "--no-dry-run"); code != 0 || len(s.runs()) != 1 {
		t.Errorf("while it runs: %d, %v\n%s", code, s.runs(), text)
	}
	s.cluster.PlayRun(t, pipelinesNamespace, first, kubetest.RunSucceeded)
	s.cluster.Forget()
	code, text = s.loop(t, "--no-dry-run", "--format", "json")
	var report struct {
		Units []struct{ Key, State, Hold string }
	}
	_, line, _ := strings.Cut("\n"+text, "\n{")
	if err := json.NewDecoder(strings.NewReader("{" + line)).Decode(&report); err != nil || code != 0 ||
		len(report.Units) != 2 || report.Units[1].State != "same" || len(s.cluster.Writes()) > 0 {
		t.Fatalf("afterwards: %d, %v, %+v\n%s", code, err, report, text)
	}
	if _, err := s.repository.Commit(gitlabtest.Change{Branch: "main",
		Files: map[string]string{"README": "more"}}); err != nil {
		t.Fatal(err)
	}
	if code, text = s.loop(t, "--no-dry-run"); code != 0 || len(s.runs()) != 2 ||
		!strings.Contains(text, "/commit/"+s.repository.Head("main")) {
		t.Errorf("after a commit: %d, %v\n%s", code, s.runs(), text)
	}
	if strings.Contains(text, s.cluster.Token) {
		t.Error("the token is shown")
	}
	if code, text = s.loop(t, "--no-dry-run", "--state", ""); code != 3 || len(s.runs()) != 2 ||
		!strings.Contains(text, "it needs a state") {
		t.Errorf("without a state: %d, %v\n%s", code, s.runs(), text)
	}
}
