package main

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/cmd/internal/journal"
	"github.com/app-sre/prcheck/cmd/internal/memory"
	"github.com/app-sre/prcheck/cmd/internal/progress"
	"github.com/app-sre/prcheck/cmd/internal/recording"
	"github.com/app-sre/prcheck/cmd/internal/source"
	"github.com/app-sre/prcheck/cmd/internal/starting"
	"github.com/app-sre/prcheck/durations"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/trace"
	"github.com/app-sre/prcheck/wrapper"
)

// A job is a plan with all that is needed to run it.
type job struct {
	plan       *plan.Plan
	base, head *bundle.Bundle
	settings   *integration.Settings
	traces     *trace.Store     // nil: nothing is remembered
	took       *durations.Store // nil: nothing is remembered
	jobs       int
	logs       string
	progress   progress.Mode
	memory     memory.Limit
	failFast   bool
	journal    *journal.Journal       // nil: none is kept
	finished   map[string]plan.Result // by task: what an earlier run left
}

// execute runs the tasks of the plan. The results are complete also when there
// is an error.
func (j job) execute(ctx context.Context, env cli.Env) (*plan.Results, error) {
	record := recording.New(j.base.SHA256(), j.head.SHA256())
	start := starting.World{
		Base: j.base, Head: j.head, Settings: j.settings, Folder: source.Folder(j.settings),
		Natives: source.Natives(), Observe: record.Task, Getenv: env.Getenv,
	}
	runner, err := start.Runner(j.plan.Tasks)
	if err != nil {
		return nil, err
	}
	if j.jobs == 0 {
		j.jobs = runtime.GOMAXPROCS(0)
	}
	left := j.left()
	show := progress.Start(left, progress.Options{Out: env.Stderr, Mode: j.progress, Getenv: env.Getenv, Jobs: j.jobs})
	defer show.Close()
	defer context.AfterFunc(ctx, show.Stopping)()
	results, err := wrapper.Run(ctx, left.Tasks, runner, wrapper.Options{
		Jobs:     j.jobs,
		Logs:     wrapper.LogFolder{Dir: j.logs},
		Secrets:  start.Secrets(j.plan.Tasks),
		Observe:  j.observe(show.Observe),
		Memory:   j.memory.Bytes(os.DirFS("/")),
		FailFast: j.failFast,
	})
	out := &plan.Results{Version: plan.Version, Plan: j.plan.Digest, Results: j.whole(results)}
	return out, errors.Join(err, j.remember(record, out), interrupted(ctx, results))
}

// interrupted is the error of a run that was not let finish.
func interrupted(ctx context.Context, results []plan.Result) error {
	canceled := func(r plan.Result) bool { return r.Status == plan.Canceled }
	if !slices.ContainsFunc(results, canceled) {
		return nil
	}
	return ctx.Err()
}

// remember adds to the results what the tasks read, and keeps the traces of
// those that passed.
func (j job) remember(record *recording.Recording, out *plan.Results) error {
	defs, err := integration.List(j.base)
	if err != nil {
		return cli.Invalid(err)
	}
	out.Observed = record.Observed(j.plan.Tasks, defs)
	now := time.Now()
	if j.journal != nil {
		if err := j.journal.Trouble(); err != nil {
			out.Warnings = append(out.Warnings, err.Error())
		}
	}
	if j.took != nil {
		if err := j.took.Add(j.measured(out.Results, now)); err != nil {
			out.Warnings = append(out.Warnings, err.Error())
		}
	}
	if j.traces != nil {
		out.Warnings = append(out.Warnings, record.Keep(*j.traces, j.plan, out.Results, j.settings, now)...)
	}
	return nil
}

// measured are the durations of the tasks that ran to their end now. What the data
// or the settings are to blame for ends early, or does not start.
func (j job) measured(results []plan.Result, at time.Time) []durations.Run {
	var out []durations.Run
	tasks := j.plan.Tasks
	for i, r := range results {
		_, before := j.finished[r.Task]
		failed := r.Status == plan.Failed && r.Class == plan.ClassTask
		if !r.OK() && !failed || r.Attempts == 0 || before {
			continue
		}
		seconds := r.Seconds
		if n := len(r.Spans); n > 0 {
			seconds = r.Spans[n-1].Seconds
		}
		out = append(out, durations.Run{
			Integration: tasks[i].Integration, Shard: tasks[i].Shard, Seconds: seconds, Passed: r.OK(), At: at,
		})
	}
	return out
}

// open opens what is remembered in a folder, nothing without one.
func (j *job) open(folder string) (err error) {
	if j.traces, err = source.Traces(folder); err == nil {
		j.took, err = source.Durations(folder)
	}
	return err
}
