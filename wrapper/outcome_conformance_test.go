package wrapper_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/wrapper"
)

// An outcomeCase is a recorded case about the outcome of tasks.
type outcomeCase struct {
	Area, Name string
	Input      struct {
		Result  string            // of one task
		Results map[string]string `json:"shard_results"`
		Logs    map[string]string `json:"failed_logs"`
		Args    any               // of a program that is called without shards
	}
	Expected json.RawMessage
}

// outcome translates the outcome of a task in a recorded case into an error of a
// Runner. SystemExit(False) means exit code 0 and SystemExit(True) exit code 1.
func outcome(t *testing.T, text string) error {
	t.Helper()
	exit := regexp.MustCompile(`^SystemExit\((.*)\)$`).FindStringSubmatch(text)
	switch {
	case exit == nil && regexp.MustCompile(`(?i)exception`).MatchString(text):
		return errors.New(text)
	case exit == nil, exit[1] == "False", exit[1] == "0":
		return nil
	case exit[1] == "True":
		return &wrapper.ExitError{Code: 1}
	}
	code, err := strconv.Atoi(exit[1])
	if err != nil {
		t.Fatalf("unknown result %q", text)
	}
	return &wrapper.ExitError{Code: code}
}

func TestTaskResultIsError(t *testing.T) {
	shared.Each(t, "task_result_is_error", func(t *testing.T, c outcomeCase) {
		var want bool
		if err := json.Unmarshal(c.Expected, &want); err != nil {
			t.Fatal(err)
		}
		said := outcome(t, c.Input.Result)
		got := runOne(t, task("a"), runnerFunc(func(context.Context, plan.Task, io.Writer) error { return said }),
			wrapper.RunOptions{})
		if (got.Status == plan.Failed) != want || got.OK() == want {
			t.Errorf("got %+v, want an error: %v", got, want)
		}
	})
}

// All shards run, whichever of them fails. Any number of failures leads to exit code 1.
// The number itself is not the exit code, since 4 would look like "not found".
func TestRunnerFlow(t *testing.T) {
	met := false
	shared.Each(t, "runner_flow", func(t *testing.T, c outcomeCase) {
		if len(c.Input.Results) == 0 {
			t.Skip("package affected tests which shards are planned")
		}
		met = true
		var want struct {
			Failed int `json:"exit_code"`
			Runs   int
		}
		if err := json.Unmarshal(c.Expected, &want); err != nil {
			t.Fatal(err)
		}
		names := slices.Sorted(maps.Keys(c.Input.Results))
		results := runAll(t, names, func(name string, _ io.Writer) error { return outcome(t, c.Input.Results[name]) })
		failed := 0
		for i, r := range results.Results {
			if r.Task != names[i] || r.Attempts != 1 {
				t.Errorf("got %+v for %s", r, names[i])
			}
			if !r.OK() {
				failed++
			}
		}
		if failed != want.Failed || len(names) != want.Runs || results.Failed() != (want.Failed > 0) {
			t.Errorf("got %d of %d failed, want %d of %d", failed, len(names), want.Failed, want.Runs)
		}
	})
	if !met {
		t.Error("no case with results of shards")
	}
}

// A task that failed keeps its own result whatever the logs of the tasks contain. A
// failure that looks transient does not change the class of the others.
func TestPRCheckExitCode(t *testing.T) {
	shared.Each(t, "pr_check_exit_code", func(t *testing.T, c outcomeCase) {
		names := append(slices.Sorted(maps.Keys(c.Input.Logs)), "good")
		results := runAll(t, names, func(name string, log io.Writer) error {
			fmt.Fprint(log, c.Input.Logs[name])
			if name == "good" {
				return nil
			}
			return &wrapper.ExitError{Code: 1}
		})
		if results.Failed() != (len(c.Input.Logs) > 0) {
			t.Errorf("the check failed: %v, with %d failures", results.Failed(), len(c.Input.Logs))
		}
		for i, r := range results.Results {
			if want := names[i] == "good"; r.OK() != want || r.Tail != c.Input.Logs[names[i]] {
				t.Errorf("got %+v, want passed %v with the tail %q", r, want, c.Input.Logs[names[i]])
			}
		}
	})
}

func runAll(t *testing.T, names []string, f func(name string, log io.Writer) error) *plan.Results {
	t.Helper()
	var tasks []plan.Task
	for _, name := range names {
		tasks = append(tasks, task(name))
	}
	results, err := wrapper.Run(t.Context(), tasks,
		runnerFunc(func(_ context.Context, task plan.Task, log io.Writer) error {
			return f(task.ID, log)
		}), wrapper.RunOptions{Backoff: soon})
	if err != nil {
		t.Fatal(err)
	}
	return &plan.Results{Results: results}
}
