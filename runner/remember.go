package runner

import (
	"context"
	"errors"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/baseline"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/audits"
	"github.com/app-sre/prcheck/state/checks"
	"github.com/app-sre/prcheck/state/dependence"
	"github.com/app-sre/prcheck/state/durations"
	"github.com/app-sre/prcheck/state/files"
	"github.com/app-sre/prcheck/state/history"
	"github.com/app-sre/prcheck/state/tally"
	"github.com/app-sre/prcheck/state/trains"
	"github.com/app-sre/prcheck/trace"
)

// remember adds to the results what the tasks read, and writes to the state how long
// tasks took, which queries they sent and how they ended. An error of the state becomes a
// warning in the results. After an interruption the writing goes on for [state.Grace].
//
// The map sameOnBase holds, by task, the failures that are the same on base.
func (r *run) remember(ctx context.Context, out *plan.Results, sameOnBase map[string]baseline.Comparison) error {
	definitions, err := integration.List(r.Base, r.Settings)
	if err != nil {
		return cli.Invalid(err)
	}
	out.Observed = r.recording.Observed(r.Plan.Tasks, definitions)
	warn := func(err error) {
		if err != nil && !errors.Is(err, state.ErrReadOnly) { // that the state is read-only was reported when it was opened
			out.Warnings = append(out.Warnings, err.Error())
		}
	}
	if r.journal != nil {
		warn(r.journal.Err())
	}
	if r.State == nil {
		return nil
	}
	ctx, cancel := state.WithGrace(ctx)
	defer cancel()
	now := time.Now()
	warn(durations.NewStore(r.State).Add(ctx, r.durations(out.Results, now)))
	warn(tally.NewStore(r.State).Add(ctx, tally.CountRun(r.Plan, out, r.isResumed), out.Forecast, now))
	ids, errs := r.readIDs(ctx, out.Results)
	warn(errors.Join(errs...))
	r.recording.Files = func(task string) files.ID { return ids[task] }
	out.Warnings = append(out.Warnings, r.recording.CheckAndSave(ctx, trace.NewStore(r.State), r.Plan, out.Results,
		r.Settings, now)...)
	warn(dependence.NewStore(r.State).Add(ctx,
		r.withReads(r.recording.Dependences(r.Plan.Tasks, out.Results, definitions, now), ids)))
	limits := state.DefaultLimits(trace.Promises, dependence.Folder, audits.Folder)
	if r.StateSize > 0 {
		limits.Size = r.StateSize
	}
	warn(state.Collect(ctx, r.State, limits, now))
	warn(trains.NewStore(r.State).Add(ctx, r.Plan, out.Results))
	warn(checks.NewStore(r.State).Add(ctx, r.Plan, out, now))
	warn(r.rememberHistory(ctx, out.Results, sameOnBase, ids))
	return nil
}

// durations returns how long the tasks took that ran to their end in this run. It leaves
// out tasks that failed because of their data or settings: they ended early or never
// started, so their durations say nothing about a normal run.
func (r *run) durations(results []plan.Result, at time.Time) []durations.Run {
	var out []durations.Run
	for i, result := range results {
		ranToEnd := result.OK() ||
			result.Status == plan.Failed && (result.Class == plan.ClassTask || result.Class == plan.ClassBaseline)
		if !ranToEnd || result.Attempts == 0 || r.isResumed(result.Task) {
			continue
		}
		seconds := result.Seconds
		if n := len(result.Spans); n > 0 {
			seconds = result.Spans[n-1].Seconds
		}
		task := r.Plan.Tasks[i]
		out = append(out, durations.Run{
			Integration: task.Integration, Shard: task.Label(), Seconds: seconds, Passed: result.OK(), At: at,
		})
	}
	return out
}

// isResumed reports whether an earlier run finished a task, so that its result was remembered.
func (r *run) isResumed(task string) bool {
	_, resumed := r.resumed[task]
	return resumed
}

// isFlaky returns a function that reports whether a task is known to be flaky.
func (r *run) isFlaky() func(context.Context, plan.Task) bool {
	if r.State == nil {
		return func(context.Context, plan.Task) bool { return false }
	}
	return history.NewStore(r.State).Snapshot(time.Now()).Flaky
}

// rememberHistory writes to the state how the tasks of this run ended. In a resumed run
// it adds the earlier attempts that the state does not remember yet.
func (r *run) rememberHistory(ctx context.Context, results []plan.Result, sameOnBase map[string]baseline.Comparison,
	ids map[string]files.ID) error {
	fingerprints := map[string]string{}
	for task, c := range sameOnBase {
		fingerprints[task] = c.Fingerprint
	}
	store := history.NewStore(r.State).Counted(r.rememberedAttempts()).FoundBy(func(t plan.Task) string {
		return r.Settings.For(t.Integration).EffectsDigest()
	}).Reading(func(t plan.Task) (read, tree string) { return string(ids[t.ID]), r.treeOfHead() })
	err := store.Remember(ctx, r.Plan.Tasks, results, fingerprints, r.began, time.Now())
	if err == nil && r.journal != nil {
		r.journal.MarkRemembered()
	}
	return err
}
