package runner

import (
	"context"
	"errors"
	"math"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/internal/reads"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/runner/journal"
	"github.com/app-sre/prcheck/runner/launch"
	"github.com/app-sre/prcheck/runner/progress"
	"github.com/app-sre/prcheck/runner/recording"
	"github.com/app-sre/prcheck/wrapper"
	"github.com/app-sre/prcheck/wrapper/forecast"
)

// Run runs the tasks of a plan, or the part of them that the options name, and returns
// a result for each task.
//
// An error without results means that nothing was run: the input is wrong, or what
// the tasks need cannot be prepared. An error with results means that the run was
// interrupted, or that something beside the tasks failed, such as a log that could
// not be written; the results are complete all the same. A failed task is no error,
// see [plan.Results.Failed].
func Run(ctx context.Context, in Input, opts Options) (*plan.Results, error) {
	if err := in.check(); err != nil {
		return nil, cli.Invalid(err)
	}
	r, err := newRun(in.withDefaults(), opts.withDefaults())
	if err != nil {
		return nil, err
	}
	return r.execute(ctx)
}

// A run is one execution of a plan.
type run struct {
	Input     // its plan has only the tasks of this part
	opts      Options
	head      wrapper.Runner                          // runs tasks over both bundles
	masker    *mask.Masker                            // masks secrets in every output, also those that natives read
	systems   func(integration string) launch.Systems // what natives read beside the data
	learned   atomic.Bool                             // whether they read a secret
	recording *recording.Recording
	handedOut handouts    // to tasks on head
	canRecord func() bool // whether this machine lets reads be recorded
	read      readings    // by tasks on head
	// readOnBase is what tasks read in runs on base.
	readOnBase readings
	announced  *announcements         // by tasks on head
	reported   *reports               // by natives on head
	journal    *journal.Journal       // nil without a journal
	resumed    map[string]plan.Result // results of an earlier run that are kept, by task
	began      time.Time
}

// newRun prepares a run. It starts no task.
func newRun(in Input, opts Options) (*run, error) {
	part := *in.Plan
	part.Tasks = opts.Part.Tasks(in.Plan.Tasks)
	in.Plan = &part
	r := &run{Input: in, opts: opts, masker: mask.New(nil),
		recording: recording.New(bundle.Apart(in.Base, in.Head).SHA256(), in.Head.SHA256())}
	r.canRecord = sync.OnceValue(func() bool { return reads.Supported() == nil })
	r.systems = in.Connect(in.Settings, r.learn)
	env := r.environment()
	env.Head, env.Place, env.Observe, env.HandOut = in.Head, r.placeOnHead, r.recording.StartAttempt, r.handedOut.note
	env.IsRecorded, env.Read = r.isRecorded, r.read.note
	r.masker.Add(env.Secrets(part.Tasks)...)
	r.announced = r.newAnnouncements()
	r.reported = r.newReports()
	env.Effects, env.Findings = r.announced.start, r.reported.start
	r.recording.Mask = r.masker.Text
	var err error
	if r.head, err = env.Runner(part.Tasks); err != nil {
		return nil, err
	}
	return r, r.openJournal()
}

// environment returns the environment for tasks that run on base alone. Their queries are
// not recorded.
func (r *run) environment() launch.Equipment {
	return launch.Equipment{
		Base: r.Base, Head: r.Base, Settings: r.Settings, Place: r.placeOnBase, Read: r.readOnBase.note,
		WritesInPlace: r.writesInPlace, Natives: r.Natives,
		Systems: r.systems, State: r.State, Getenv: r.Getenv, Environ: r.Environ, Temp: r.opts.Temp,
	}
}

// execute runs the tasks, settles their failures and remembers what was learned.
func (r *run) execute(ctx context.Context) (*plan.Results, error) {
	left := r.unfinished()
	foreseen := forecast.Make(left.Tasks, forecast.Capacity{Jobs: r.opts.Jobs, Memory: r.opts.MemoryLimit,
		Targets: r.targets})
	r.opts.Progress.Forecast = foreseen
	display := progress.Start(left, r.opts.Progress)
	defer display.Close()
	defer context.AfterFunc(ctx, display.Stopping)()
	r.began = time.Now()
	shared := &sharedTargets{state: r.State}
	opts := r.wrapperOptions(display, shared)
	s := r.newSettlement(opts)
	opts.Settle = s.settleOne
	ended, err := wrapper.Run(ctx, left.Tasks, r.head, opts)
	display.Close()
	r.addTime(foreseen, ended)

	out := &plan.Results{Version: plan.Version, Plan: r.Plan.Digest, Part: r.opts.Part, Reused: r.Plan.Reused(),
		Results: r.withResumed(ended)}
	if len(r.resumed) == 0 { // otherwise it is that of the rest
		out.Forecast = foreseen
	}
	err = errors.Join(err, s.settleAll(ctx, out.Results))
	r.doubtUnrecorded(out.Results)
	out.Warnings = append(out.Warnings, r.refutedPromises()...)
	out.Warnings = append(out.Warnings, r.compareEffects(ctx, s.notes, s.opts, out.Results)...)
	if problem := shared.problem(); problem != nil {
		out.Warnings = append(out.Warnings, problem.Error())
	}
	err = errors.Join(err, r.remember(ctx, out, s.sameOnBase), interruption(ctx, ended))
	forgetEffectsOfFailures(out.Results)
	r.maskLearned(out)
	return out, err
}

// addTime adds to a forecast how long the tasks took, unless the run was interrupted.
func (r *run) addTime(f *plan.Forecast, ended []plan.Result) {
	if f != nil && !slices.ContainsFunc(ended, func(t plan.Result) bool { return t.Status == plan.Canceled }) {
		f.Took = math.Round(time.Since(r.began).Seconds()*1000) / 1000
	}
}

// wrapperOptions returns the options for tasks that run on head.
func (r *run) wrapperOptions(display *progress.Progress, shared *sharedTargets) wrapper.RunOptions {
	return wrapper.RunOptions{
		Jobs:      r.opts.Jobs,
		Logs:      wrapper.LogFolder{Dir: r.opts.Logs},
		Masker:    r.masker,
		Observe:   r.journaled(display.Observe),
		Finish:    r.finish,
		Memory:    r.opts.MemoryLimit,
		FailFast:  r.opts.FailFast,
		Transient: r.transientErrors,
		Backoff:   r.opts.Backoff,
		Targets:   r.targets,
		Lease:     shared.lease(),
		Began:     r.began,
	}
}

// transientErrors returns the patterns of errors that may disappear in another attempt,
// as the settings list them for a task.
func (r *run) transientErrors(t plan.Task) []*regexp.Regexp {
	return r.Settings.For(t.Integration).Transient
}

// interruption returns the error of the context if it kept a task from ending.
func interruption(ctx context.Context, results []plan.Result) error {
	isCanceled := func(r plan.Result) bool { return r.Status == plan.Canceled }
	if !slices.ContainsFunc(results, isCanceled) {
		return nil
	}
	return ctx.Err()
}
