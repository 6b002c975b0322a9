package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/app-sre/prcheck/blame"
	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/cmd/internal/progress"
	"github.com/app-sre/prcheck/cmd/internal/source"
	"github.com/app-sre/prcheck/cmd/internal/starting"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/server"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/wrapper"
)

// maxLog bounds the logs that are compared, in bytes.
const maxLog = 4 << 20

// errBudget is the cause of a context that ended with the time on base.
var errBudget = errors.New("the time for runs on base was up (max_baseline_seconds)")

// onBase returns what runs tasks over base alone. Nothing is recorded of it:
// traces are of head.
func (j job) onBase(getenv func(string) string) func([]plan.Task) (wrapper.Runner, error) {
	unseen := func(string) func(server.Exchange) { return nil }
	return starting.World{
		Base: j.base, Head: j.base, Settings: j.settings, Folder: source.Folder(j.settings),
		Natives: source.Natives(), Observe: unseen, Getenv: getenv,
	}.Runner
}

// subtract runs the tasks that failed again, over base alone, and marks those
// that fail there the same way: they are not this change's to mend. It returns
// what it found of those. What is in doubt stays as it is.
func (j job) subtract(ctx context.Context, env cli.Env, out *plan.Results, opts wrapper.Options,
	onBase func([]plan.Task) (wrapper.Runner, error)) (map[string]blame.Finding, error) {
	budget := j.settings.Baseline()
	again, err := j.failed(out)
	if j.noBaseline || budget == 0 || len(again) == 0 || ctx.Err() != nil || err != nil {
		return nil, err
	}
	if j.progress != progress.None {
		_, _ = fmt.Fprintf(env.Stderr, "runner: %s; running %s on base, for at most %s\n", failures(len(again)), it(len(again)), budget) // only a note
	}
	runner, err := onBase(again)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, budget, errBudget)
	defer cancel()
	logs, err := j.baseLogs()
	if err != nil {
		return nil, err
	}
	opts.Logs, opts.Observe, opts.FailFast = logs, nil, false
	results, err := wrapper.Run(limited, again, runner, opts)
	found := map[string]blame.Finding{}
	for i, on := range results {
		at := slices.IndexFunc(out.Results, func(r plan.Result) bool { return r.Task == on.Task })
		head := &out.Results[at]
		f := j.compare(again[i], *head, on, logs)
		if on.Status == plan.Canceled {
			f = blame.Finding{Text: "not comparable with base: " + context.Cause(limited).Error()}
		}
		head.Baseline = &plan.Baseline{Finding: f.Text, Seconds: on.Seconds, Log: on.Log}
		if f.Same {
			head.Class = plan.ClassBaseline
			found[head.Task] = f
		}
	}
	return found, errors.Join(err, ctx.Err())
}

// baseLogs is the folder for logs on base. A link there could lead to the logs that
// they are compared with.
func (j job) baseLogs() (wrapper.LogFolder, error) {
	dir := filepath.Join(j.logs, "base")
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return wrapper.LogFolder{}, cli.Invalid(fmt.Errorf("nothing runs on base: %q is no folder, take it away", filepath.ToSlash(dir)))
	}
	return wrapper.LogFolder{Dir: dir, Prefix: path.Join(filepath.Base(j.logs), "base")}, nil
}

// compare compares what a task said on head with what it said on base.
func (j job) compare(t plan.Task, head, base plan.Result, logs wrapper.LogFolder) blame.Finding {
	here := failure(t, head, wrapper.LogFolder{Dir: j.logs})
	return blame.Compare(t, here, failure(t, base, logs), j.base.SHA256(), j.head.SHA256())
}

// failure is a result with the log of its last attempt. A file that the result
// does not name is that of an earlier run, and one that ends otherwise that of a
// later one.
func failure(t plan.Task, r plan.Result, logs wrapper.LogFolder) blame.Failure {
	if r.Log == "" {
		return blame.Failure{Result: r, Err: errors.New("there is none")}
	}
	log, err := logs.Read(t.ID, r.Attempts, maxLog)
	if err == nil && wrapper.Tail(log) != r.Tail {
		err = errors.New("another run wrote it")
	}
	return blame.Failure{Result: r, Log: log, Err: err}
}

// failed returns the tasks that failed and that base knows, as they are run
// there: to their end, since there is no difference by which they could leave
// anything out.
func (j job) failed(out *plan.Results) ([]plan.Task, error) {
	var again []plan.Task
	for i, t := range j.plan.Tasks {
		if i < len(out.Results) && blame.Eligible(t, out.Results[i]) {
			t.When = slices.DeleteFunc(slices.Clone(t.When), func(c string) bool {
				return c == string(integration.EarlyExit) || c == string(integration.AffectedOnly)
			})
			again = append(again, t)
		}
	}
	if len(again) == 0 {
		return nil, nil
	}
	defs, err := integration.List(j.base)
	if err != nil {
		return nil, cli.Invalid(err)
	}
	return slices.DeleteFunc(again, func(t plan.Task) bool {
		known := slices.ContainsFunc(defs, func(d integration.Definition) bool { return d.Name == t.Integration })
		return !known || t.Shard != "" && !mentions(j.base, t.Shard)
	}), nil
}

// mentions tells whether a bundle has a datafile with this very text as a value.
// A shard of which there is no word on base is new, and its failure is the
// change's, whatever a command says on base of a shard that it does not know.
func mentions(b *bundle.Bundle, shard string) bool {
	var quoted bytes.Buffer
	enc := json.NewEncoder(&quoted)
	enc.SetEscapeHTML(false)
	if enc.Encode(shard) != nil {
		return false
	}
	word := bytes.TrimSpace(quoted.Bytes())
	return slices.ContainsFunc(b.Datafiles(), func(f *bundle.File) bool { return bytes.Contains(f.Raw(), word) })
}

func failures(n int) string {
	if n == 1 {
		return "1 task failed"
	}
	return fmt.Sprintf("%d tasks failed", n)
}

func it(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// blames remembers how the tasks ended that ran since the begin. Trouble with it is a
// warning.
func (j job) blames(out *plan.Results, found map[string]blame.Finding, begin time.Time) {
	if j.state == nil {
		return
	}
	err := source.Blame(j.state).Remember(j.plan.Tasks, out.Results, found, begin, time.Now())
	if err != nil && !errors.Is(err, state.ErrReadOnly) { // that was told when it was opened
		out.Warnings = append(out.Warnings, err.Error())
	}
}
