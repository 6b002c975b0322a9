package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/cmd/internal/source"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/server"
	"github.com/app-sre/prcheck/wrapper"
)

// A job is a plan with all that is needed to run it.
type job struct {
	plan       *plan.Plan
	base, head *bundle.Bundle
	settings   *integration.Settings
	jobs       int
	logs       string
}

// execute runs the tasks of the plan. The results are complete also when there
// is an error.
func (j job) execute(ctx context.Context, env cli.Env) (*plan.Results, error) {
	open, err := j.endpoints()
	if err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(source.Folder(j.settings))
	if err != nil {
		return nil, err
	}
	process := wrapper.Process{Open: open, Command: func(t plan.Task) (wrapper.Command, error) {
		exec := j.settings.For(t.Integration).Exec
		return wrapper.Command{
			Env: environment(exec, env.Getenv), Dir: folder, Config: exec.Config,
			Vars: map[string]string{"name": t.Integration},
		}, nil
	}}
	results, err := wrapper.Run(ctx, j.plan.Tasks, tasks{process, source.Natives()}, wrapper.Options{
		Jobs:    j.jobs,
		Logs:    wrapper.LogFolder{Dir: j.logs},
		Secrets: j.secrets(env.Getenv),
		Observe: progress(env.Stderr, len(j.plan.Tasks)),
	})
	return &plan.Results{Version: plan.Version, Plan: j.plan.Digest, Results: results}, err
}

// endpoints returns what opens the server of a task: both bundles, and only
// the schemas that its integration may read.
func (j job) endpoints() (func(context.Context, plan.Task) (wrapper.Endpoint, error), error) {
	if len(j.plan.Tasks) == 0 {
		return nil, nil
	}
	base, head, err := server.Snapshots(j.base, j.head)
	if err != nil {
		return nil, cli.Invalid(err)
	}
	before, err := definitions(j.base)
	if err != nil {
		return nil, cli.Invalid(err)
	}
	after, err := definitions(j.head)
	if err != nil {
		return nil, cli.Invalid(err)
	}
	return func(ctx context.Context, t plan.Task) (wrapper.Endpoint, error) {
		old, now := before[t.Integration], after[t.Integration]
		e, err := server.Open(ctx, server.Options{
			Base: base, Head: head, Integration: t.Integration,
			BaseAllowed: old.Schemas, HeadAllowed: now.Schemas,
			Unenforced: unenforced(old) || unenforced(now),
		})
		if err != nil {
			return nil, err
		}
		return endpoint{e, base, head}, nil
	}, nil
}

func unenforced(d integration.Definition) bool { return d.Check != nil && d.Check.Unenforced }

func definitions(b *bundle.Bundle) (map[string]integration.Definition, error) {
	list, err := integration.List(b)
	out := map[string]integration.Definition{}
	for _, d := range list {
		out[d.Name] = d
	}
	return out, err
}

// An endpoint is a server as the wrapper wants it.
type endpoint struct {
	*server.Endpoint
	base, head *server.Snapshot
}

func (e endpoint) Vars() map[string]string {
	return map[string]string{
		"graphql_url": e.URL(), "base_url": e.BaseURL(),
		"base_sha": e.base.Bundle.SHA256(), "head_sha": e.head.Bundle.SHA256(),
	}
}

func (e endpoint) Close() error {
	err := e.Endpoint.Close()
	var forbidden *server.ForbiddenError
	if errors.As(err, &forbidden) {
		return &wrapper.ConfigError{Err: forbidden}
	}
	return err
}

// environment is all a task gets of the runner's environment, and what the
// settings add.
func environment(exec integration.Exec, getenv func(string) string) []string {
	var out []string
	for _, name := range exec.PassEnv {
		if v := getenv(name); v != "" {
			out = append(out, name+"="+v)
		}
	}
	for name, v := range exec.Env {
		out = append(out, name+"="+v)
	}
	slices.Sort(out)
	return out
}

// secretWords mark the variables whose values never appear in an output.
var secretWords = []string{"TOKEN", "SECRET", "PASS", "KEY", "CREDENTIAL", "AUTH"}

// secrets returns the values that must not appear in any output.
func (j job) secrets(getenv func(string) string) []string {
	var out []string
	for _, t := range j.plan.Tasks {
		exec := j.settings.For(t.Integration).Exec
		for _, name := range exec.PassEnv {
			if v := getenv(name); v != "" && isSecret(name) && !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
		for name, v := range exec.Env {
			if isSecret(name) && !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
	}
	return out
}

func isSecret(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc(secretWords, func(w string) bool { return strings.Contains(name, w) })
}

// progress writes one line for each task that ends.
func progress(w io.Writer, total int) func(wrapper.Event) {
	done := 0
	return func(e wrapper.Event) {
		if e.Result == nil {
			return
		}
		done++
		took := time.Duration(e.Result.Seconds * float64(time.Second)).Round(100 * time.Millisecond)
		line := fmt.Sprintf("[%d/%d] %q %s in %s", done, total, e.Task.ID, strings.ReplaceAll(string(e.Result.Status), "_", " "), took)
		if e.Result.Reason != "" {
			line += ": " + e.Result.Reason
		}
		_, _ = fmt.Fprintln(w, line) // progress is not worth stopping for
	}
}
