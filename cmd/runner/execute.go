package main

import (
	"context"
	"errors"
	"os"
	"regexp"
	"runtime"
	"slices"
	"time"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/journal"
	"github.com/app-sre/prcheck/runner/launch"
	"github.com/app-sre/prcheck/runner/memory"
	"github.com/app-sre/prcheck/runner/progress"
	"github.com/app-sre/prcheck/runner/recording"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/durations"
	"github.com/app-sre/prcheck/wrapper"
)

// A job is a plan with all that is needed to run it.
type job struct {
	plan       *plan.Plan
	base, head *bundle.Bundle
	settings   *integration.Settings
	state      state.Store // nil: nothing is remembered
	jobs       int
	part       plan.Fraction // the tasks of the plan are those of this part
	noBaseline bool
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
	start := launch.World{
		Base: j.base, Head: j.head, Settings: j.settings, Folder: source.Folder(j.settings),
		Natives: source.Natives(), Observe: record.Task, Getenv: env.Getenv, Environ: env.Environ,
	}
	runner, err := start.Runner(j.plan.Tasks)
	if err != nil {
		return nil, err
	}
	if j.jobs == 0 {
		j.jobs = runtime.GOMAXPROCS(0)
	}
	secrets := start.Secrets(j.plan.Tasks)
	record.Mask = wrapper.Mask(secrets)
	left := j.left()
	show := progress.Start(left, progress.Options{Out: env.Stderr, Mode: j.progress, Getenv: env.Getenv, Jobs: j.jobs})
	defer show.Close()
	defer context.AfterFunc(ctx, show.Stopping)()
	opts := wrapper.Options{
		Jobs:      j.jobs,
		Logs:      wrapper.LogFolder{Dir: j.logs},
		Secrets:   secrets,
		Observe:   j.observe(show.Observe),
		Memory:    j.memory.Bytes(os.DirFS("/")),
		FailFast:  j.failFast,
		Transient: j.transient,
		Targets:   j.targets,
	}
	shared := &sharing{state: j.state}
	opts.Lease = shared.lease()
	opts.Began = time.Now()
	sub := j.subtract(opts, runner, j.onBase(env.Getenv))
	opts.Settle = sub.one
	results, err := wrapper.Run(ctx, left.Tasks, runner, opts)
	show.Close()
	out := &plan.Results{Version: plan.Version, Plan: j.plan.Digest, Part: j.part, Results: j.whole(results)}
	found, trouble := sub.all(ctx, env.Stderr, out.Results)
	if trouble := shared.trouble(); trouble != nil {
		out.Warnings = append(out.Warnings, trouble.Error())
	}
	err = errors.Join(err, trouble, j.remember(record, out), interrupted(ctx, results))
	j.blames(out, found, opts.Began)
	return out, err
}

// transient gives the patterns of the settings for a task.
func (j job) transient(t plan.Task) []*regexp.Regexp {
	return j.settings.For(t.Integration).Transient
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
	if j.state == nil {
		return nil
	}
	warn := func(err error) {
		if err != nil && !errors.Is(err, state.ErrReadOnly) { // that was told when it was opened
			out.Warnings = append(out.Warnings, err.Error())
		}
	}
	warn(source.Durations(j.state).Add(j.measured(out.Results, now)))
	out.Warnings = append(out.Warnings, record.Keep(*source.Traces(j.state), j.plan, out.Results, j.settings, now)...)
	warn(source.Collect(j.state, now))
	return nil
}

// measured are the durations of the tasks that ran to their end now. What the data
// or the settings are to blame for ends early, or does not start.
func (j job) measured(results []plan.Result, at time.Time) []durations.Run {
	var out []durations.Run
	tasks := j.plan.Tasks
	for i, r := range results {
		_, before := j.finished[r.Task]
		failed := r.Status == plan.Failed && (r.Class == plan.ClassTask || r.Class == plan.ClassBaseline)
		if !r.OK() && !failed || r.Attempts == 0 || before {
			continue
		}
		seconds := r.Seconds
		if n := len(r.Spans); n > 0 {
			seconds = r.Spans[n-1].Seconds
		}
		out = append(out, durations.Run{
			Integration: tasks[i].Integration, Shard: tasks[i].Label(), Seconds: seconds, Passed: r.OK(), At: at,
		})
	}
	return out
}
