//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Tools are the programs that are checked, and the key with which jobs sign the state.
type tools struct {
	Runner, Planner string
	key, public     string
}

// newTools makes a key in a folder.
func newTools(ctx context.Context, runner, planner, dir string) (tools, error) {
	t := tools{key: filepath.Join(dir, "state.key")}
	var err error
	if t.Runner, err = filepath.Abs(runner); err != nil {
		return t, err
	}
	if t.Planner, err = filepath.Abs(planner); err != nil {
		return t, err
	}
	out, err := command(ctx, dir, environment(dir), t.Planner, "keygen", t.key)
	for line := range strings.Lines(out) {
		if at := strings.Index(line, "ed25519:"); at >= 0 {
			t.public = strings.TrimRight(line[at:], "\"] \n")
		}
	}
	if err == nil && t.public == "" {
		err = fmt.Errorf("planner upkeep keygen prints no public key: %s", out)
	}
	return t, err
}

// A verdict is what prcheck says of a change.
type verdict struct {
	Code    int               `json:"code"`
	Ran     map[string]string `json:"ran"`    // the status of each integration with a task
	Reused  map[string]bool   `json:"reused"` // integrations that a pass or a trace of the state left out
	Why     map[string]string `json:"why"`    // the code of the reason of each integration
	Said    string            `json:"said"`
	Seconds float64           `json:"-"`
	user    time.Duration
}

// precheck lets prcheck check a checkout.
func (t tools) precheck(ctx context.Context, c *checkout, in place, root string, round int) (verdict, error) {
	env, err := c.variables(ctx, in, t.key)
	if err != nil {
		return verdict{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute) // also on a busy machine
	defer cancel()
	file := func(name string) string { return filepath.Join(root, fmt.Sprintf("%s-%d", name, round)) }
	cmd := exec.CommandContext(ctx, t.Runner, "precheck", "--progress", "none", "--state", filepath.Join(root, "state"), //nolint:gosec // the program to check
		"--plan", file("plan"), "--out", file("results"), "--logs", file("logs"))
	cmd.Dir, cmd.Env = c.dir, env
	apart(cmd)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		return verdict{}, errors.Join(err, ctx.Err())
	}
	v := verdict{Code: cmd.ProcessState.ExitCode(), Said: said.String(),
		user: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	return v, v.read(file("plan"), file("results"))
}

// read reads the plan and the results into the verdict. Both may be missing.
func (v *verdict) read(planFile, resultsFile string) error {
	v.Ran, v.Reused, v.Why = map[string]string{}, map[string]bool{}, map[string]string{}
	var plan struct {
		Integrations []struct {
			Name, Decision, Code string
			Evidence             struct{ Traces []struct{ Doubt string } }
		}
		Tasks []struct{ ID, Integration string }
	}
	var results struct {
		Results []struct{ Task, Status string }
	}
	if err := readJSON(planFile, &plan); err != nil {
		return err
	}
	if err := readJSON(resultsFile, &results); err != nil {
		return err
	}
	for _, i := range plan.Integrations {
		v.Why[i.Name] = i.Code
		for _, t := range i.Evidence.Traces {
			if name, what, ok := strings.Cut(t.Doubt, `"`); ok { // without the name of a file
				_, what, _ = strings.Cut(what, `"`)
				t.Doubt = name + "FILE" + what
			}
			v.Why[i.Name] += ", " + t.Doubt
		}
		if slices.Contains([]string{"same_answers", "all_shards_proven", "passed_before"}, i.Code) {
			v.Reused[i.Name] = true
		}
	}
	for _, t := range plan.Tasks {
		v.Ran[t.Integration] = "unknown"
		for _, r := range results.Results {
			if r.Task == t.ID {
				v.Ran[t.Integration] = r.Status
			}
		}
	}
	return nil
}

// readJSON reads a file, if it is there.
func readJSON(name string, into any) error {
	raw, err := os.ReadFile(name) //nolint:gosec // the law's own folder
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}
