package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
)

// kinds are how the tasks of TestKilledInDoubt end, and with which result.
var kinds = []struct {
	name     string
	status   plan.Status
	class    plan.Class
	attempts int // 0: what there are
}{
	{"broken", plan.Failed, plan.ClassBaseline, 1},
	{"fault", plan.Failed, plan.ClassTask, 1},
	{"flakes", plan.Passed, "", 0},
	{"down", plan.Failed, plan.ClassTransient, 3},
}

// A runner may be killed while failed tasks run on base or get a last attempt, or both at
// once with --fail-fast. After it is resumed, each task has one result, the same as
// without the kill.
func TestKilledInDoubt(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	s := newSite(t, 2*len(kinds), func(task, dir string, i int) []string {
		return []string{task, "doubt", filepath.Join(dir, fmt.Sprint(i, ".lock")), kinds[i%len(kinds)].name, "{base_sha}",
			"{head_sha}"}
	})
	for i := range s.plan.Tasks {
		task := &s.plan.Tasks[i]
		task.Timeout = "1s" // and so the pause before the second attempt
		task.Command, task.Inputs = task.ID, task.ID
	}
	s.write(t)
	complete, killed := 0, 0
	for killed < *kills/4 || complete == 0 {
		flags := []string{"--resume", "--state", "state"}
		if complete%2 == 0 {
			flags = append(flags, "--fail-fast")
		}
		cmd, said := s.start(t, flags...)
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		delay := 50*time.Millisecond + rand.N(2*time.Second)
		if killed >= *kills/4 {
			delay = time.Minute
		}
		select {
		case <-ended:
		case <-time.After(delay):
			pid := cmd.Process.Pid
			if killed%2 == 0 {
				pid = worker(t, pid)
			}
			_ = syscall.Kill(pid, syscall.SIGKILL)
			killed++
			<-ended
			s.inDoubt(t)
			continue
		}
		s.inDoubt(t)
		if cmd.ProcessState.ExitCode() != 1 {
			t.Fatalf("got %v, want exit code 1: %s", cmd.ProcessState, said)
		}
		if !s.decided(t) {
			continue // it failed fast
		}
		complete++
		old, err := filepath.Glob(filepath.Join(s.dir, "*.lock"))
		for _, name := range append(old, filepath.Join(s.dir, "results.jsonl")) {
			err = errors.Join(err, os.Remove(name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills, %d runs complete", killed, complete)
}

// maxAttemptsOfFlaky is how many attempts package runner gives a flaky task.
const maxAttemptsOfFlaky = 5

// inDoubt holds each result in the journal to have more attempts than the one
// before it, and the tasks to have never met another of their kind.
func (s *site) inDoubt(t *testing.T) {
	t.Helper()
	if met, err := filepath.Glob(filepath.Join(s.dir, "*.met")); err != nil || len(met) > 0 {
		t.Fatalf("tasks ran twice at once: %q, %v", met, err)
	}
	raw, err := os.ReadFile(filepath.Join(s.dir, "results.jsonl"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	attempts := map[string]int{}
	for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
		var r plan.Result
		if json.Unmarshal(lines.Bytes(), &r) != nil || r.Task == "" {
			continue
		}
		if r.Attempts <= attempts[r.Task] || r.Attempts > maxAttemptsOfFlaky {
			t.Fatalf("after %d attempts the journal has %s", attempts[r.Task], lines.Bytes())
		}
		attempts[r.Task] = r.Attempts
	}
}

// decided holds the results to be those that the kinds have, and tells whether all
// tasks ran.
func (s *site) decided(t *testing.T) bool {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	results, err := plan.ReadResults(bytes.NewReader(raw))
	if err != nil || len(results.Results) != len(s.plan.Tasks) {
		t.Fatalf("got %d results, %v, want %d", len(results.Results), err, len(s.plan.Tasks))
	}
	all := true
	for i, r := range results.Results {
		want := kinds[i%len(kinds)]
		right := r.Status == want.status && r.Class == want.class && (want.attempts == 0 || r.Attempts == want.attempts)
		switch {
		case r.Task != s.plan.Tasks[i].ID:
			t.Fatalf("result %d is of %s", i, r.Task)
		case r.Status == plan.Canceled:
			all = false
		case !right && r.Status != plan.TimedOut: // on a machine that is busy with other things
			t.Fatalf("got %+v, want %+v", r, want)
		}
	}
	return all
}
