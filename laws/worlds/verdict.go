package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A verdict is what prcheck says of a change.
type verdict struct {
	code   int
	ran    map[string]bool // integrations with a task
	said   string
	argued string // the first line of stderr that is an error
}

// ask asks prcheck about the change in the checkout.
func (repo *repository) ask(runner, home string, inJob bool, state string) (verdict, error) {
	plan, out := filepath.Join(home, "plan.json"), filepath.Join(home, "results.json")
	_ = os.Remove(plan)
	args := []string{"precheck", "--plan", plan, "--out", out, "--logs", filepath.Join(home, "logs"), "--progress", "none"}
	if state != "" {
		args = append(args, "--state", state)
	}
	var more []string
	if inJob {
		more = []string{
			"GITLAB_CI=true", "CI=true", "CI_PIPELINE_SOURCE=merge_request_event", "CI_MERGE_REQUEST_IID=1", "CI_MERGE_REQUEST_TARGET_BRANCH_SHA=",
			"CI_MERGE_REQUEST_DIFF_BASE_SHA=" + repo.revision("main"), "CI_COMMIT_SHA=" + repo.revision("HEAD"), "CI_PROJECT_DIR=" + repo.dir,
			"CI_DEFAULT_BRANCH=main", "CI_PROJECT_PATH=a/b", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main",
		}
	}
	cmd := exec.Command(runner, args...)
	cmd.Dir, cmd.Env = repo.dir, environment(home, more...)
	raw, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return verdict{}, err
	}
	v := verdict{code: cmd.ProcessState.ExitCode(), ran: map[string]bool{}, said: string(raw)}
	for line := range strings.Lines(v.said) {
		if rest, ok := strings.CutPrefix(line, "runner: "); ok && v.argued == "" && !strings.HasPrefix(rest, "comparing ") {
			v.argued = strings.TrimSpace(rest)
		}
	}
	var p struct {
		Tasks []struct{ Integration string }
	}
	if raw, err := os.ReadFile(plan); err == nil {
		if err := json.Unmarshal(raw, &p); err != nil {
			return v, err
		}
	}
	for _, t := range p.Tasks {
		v.ran[t.Integration] = true
	}
	return v, nil
}

// broken returns the programs that the change breaks: they pass on base and fail on head, or fail
// there with other words.
func broken(base, head truth) []string {
	var out []string
	for name, said := range head {
		if said != "" && said != base[name] {
			out = append(out, name)
		}
	}
	return out
}
