package runner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
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
	"github.com/app-sre/prcheck/runner/place"
	"github.com/app-sre/prcheck/runner/progress"
	"github.com/app-sre/prcheck/runner/recording"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state/dependence"
	"github.com/app-sre/prcheck/state/files"
	"github.com/app-sre/prcheck/world"
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
		Observe:   r.journaled(r.watched(display.Observe)),
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

// placeOnHead makes the place of a task on head.
func (r *run) placeOnHead(ctx context.Context, t plan.Task) (place.Place, error) {
	return r.Places.OnHead(ctx, r.userOf(t))
}

// placeOnBase makes the place of a task on base.
func (r *run) placeOnBase(ctx context.Context, t plan.Task) (place.Place, error) {
	return r.Places.OnBase(ctx, r.userOf(t))
}

// userOf says who needs a place for a task.
func (r *run) userOf(t plan.Task) place.User {
	return place.User{Name: t.Integration, UsesFiles: r.usesFiles(t), IsRecorded: r.isRecorded(t) && r.canRecord()}
}

// usesFiles reports whether a task may use files of the repository: its settings do not promise
// that it uses none, or it opened one all the same.
func (r *run) usesFiles(t plan.Task) bool {
	found, _ := r.read.of(t.ID)
	return !t.Native && (!r.Settings.For(t.Integration).Programs.None || len(found.used) > 0)
}

// whyNotOnBase says why a run of a task on base says nothing about base, "" if it does.
func (r *run) whyNotOnBase(t plan.Task) string {
	if t.NewCommand {
		return "base has another command"
	}
	if r.BaseSettings != nil && r.BaseSettings.Digest() != r.Settings.Digest() {
		if keys := r.BaseSettings.DifferingKeys(r.Settings, t.Integration); len(keys) > 0 {
			return "head edits the settings by which it runs: " + strings.Join(keys, ", ")
		}
	}
	return r.Places.WhyNotBase(r.usesFiles(t))
}

// writesInPlace notes that a task writes into files that it could only replace.
func (r *run) writesInPlace(t plan.Task) { r.Places.WritesInPlace(t.Integration) }

// isRecorded reports whether the reads of a task are recorded.
func (r *run) isRecorded(t plan.Task) bool {
	return !t.Native && r.Settings.For(t.Integration).Reads != settings.ReadsNone
}

// readIDs returns the ids of what tasks read, by task, and writes the lists to the state. A task
// that could not be recorded counts as having read every file, or those that the settings
// declare.
func (r *run) readIDs(ctx context.Context, results []plan.Result) (ids map[string]files.ID, errs []error) {
	ids = map[string]files.ID{}
	store := files.NewStore(r.State)
	for i, t := range r.Plan.Tasks {
		if i >= len(results) || results[i].Attempts == 0 || t.Native || r.isResumed(t.ID) {
			continue
		}
		found, ok := r.read.of(t.ID)
		if !ok || found.why != "" || found.at.World == nil || r.hasSecret(found.list) || r.isPrepared(t) {
			ids[t.ID] = r.allFiles(t)
			continue
		}
		id, err := store.Save(ctx, t.Integration, found.list)
		if err != nil {
			errs = append(errs, err)
		}
		ids[t.ID] = id
	}
	return ids, errs
}

// hasSecret reports whether a name of a list contains a secret. Such a list is not remembered.
func (r *run) hasSecret(l files.List) bool {
	return slices.ContainsFunc(l, func(f files.Read) bool { return r.masker.Text(f.Path) != f.Path })
}

// isPrepared reports whether a command prepares the files of a task. Nobody records its reads, so they count only
// if the settings list the files.
func (r *run) isPrepared(t plan.Task) bool {
	return len(r.Settings.Prepare()) > 0 && r.Settings.For(t.Integration).Programs.Globs == nil
}

// allFiles returns the id for a task that was not recorded.
func (r *run) allFiles(t plan.Task) files.ID {
	programs := r.Settings.For(t.Integration).Programs
	if r.isPrepared(t) {
		programs = settings.Programs{}
	}
	switch {
	case programs.None || programs.Globs != nil:
		return files.Declared
	case r.Programs == nil:
		return "" // nobody knows
	}
	digest, err := r.Programs(programs)
	if err != nil {
		return "" // nobody knows
	}
	return files.All(digest)
}

// treeOfHead returns the id of head's files, "" if they are not known.
func (r *run) treeOfHead() string {
	if r.Places.Head == nil {
		return ""
	}
	tree, err := r.Places.Head()
	if err != nil {
		return ""
	}
	return tree.ID()
}

// withReads adds to runs the files that were read.
func (r *run) withReads(runs []dependence.Run, ids map[string]files.ID) []dependence.Run {
	for i := range runs {
		runs[i].Read = string(ids[runs[i].Task])
		d, _ := r.Plan.Decision(runs[i].Integration)
		t, _ := r.Plan.Task(runs[i].Task)
		// else they are those of head's program, or not all
		if found, ok := r.read.of(t.ID); ok && len(d.Evidence.Edited) == 0 && !r.isPrepared(t) {
			runs[i].Beyond.Files = found.list.Paths()
		}
	}
	return runs
}

// refutedPromises returns a warning for each integration whose settings say that it uses no file
// of the repository, and that opened one.
func (r *run) refutedPromises() []string {
	var out []string
	told := map[string]bool{}
	for _, t := range r.Plan.Tasks {
		found, ok := r.read.of(t.ID)
		if !ok || found.at.World == nil || told[t.Integration] || !r.Settings.For(t.Integration).Programs.None {
			continue
		}
		i := slices.IndexFunc(found.used, func(name string) bool {
			_, kind, ok := found.at.World.Tree.Lookup(name)
			return ok && kind == world.Regular
		})
		if i >= 0 {
			told[t.Integration] = true
			out = append(out,
				fmt.Sprintf("%q uses files of the repository, although its settings say programs: none: it opened %q",
					t.Integration, found.used[i]))
		}
	}
	return out
}

// openJournal begins the journal of this run, if the options name one. With Resume the
// run keeps the results that the journal holds, and their tasks do not run again.
//
// Tasks of an integration with "trace: static" are an exception and run again: only their
// queries show whether the integration keeps its promise.
func (r *run) openJournal() (err error) {
	if r.opts.Journal == nil {
		return nil
	}
	r.journal, r.resumed, err = journal.Begin(r.opts.Journal, r.Plan, r.opts.Resume)
	if err != nil || !r.opts.Resume {
		return err
	}
	for _, t := range r.Plan.Tasks {
		if r.State != nil && r.Settings.For(t.Integration).Trace == settings.TraceStatic {
			delete(r.resumed, t.ID)
		}
	}
	_, err = fmt.Fprintf(r.opts.Notes, "runner: %d of %d tasks had finished before\n", len(r.resumed), len(r.Plan.Tasks))
	return err
}

// unfinished returns the plan with only those tasks that have no result yet.
func (r *run) unfinished() *plan.Plan {
	if len(r.resumed) == 0 {
		return r.Plan // without a copy of its tasks, which may be many
	}
	left := *r.Plan
	left.Tasks = nil
	for _, t := range r.Plan.Tasks {
		if _, done := r.resumed[t.ID]; !done {
			left.Tasks = append(left.Tasks, t)
		}
	}
	return &left
}

// withResumed merges the results of this run with the results that were kept from an
// earlier run. The results of this run are in the order of the unfinished tasks, the
// merged results are in the order of the plan. Kept results have no spans, because spans
// count from the start of this run.
func (r *run) withResumed(results []plan.Result) []plan.Result {
	if len(r.resumed) == 0 {
		return results
	}
	all := make([]plan.Result, 0, len(r.Plan.Tasks))
	for _, t := range r.Plan.Tasks {
		result, done := r.resumed[t.ID]
		if done {
			result.Spans = nil
		} else {
			result, results = results[0], results[1:]
		}
		all = append(all, result)
	}
	return all
}

// rememberedAttempts returns, by task, how many attempts of kept results the state
// remembers already.
func (r *run) rememberedAttempts() map[string]int {
	attempts := map[string]int{}
	for id := range r.resumed {
		attempts[id] = r.journal.RememberedAttempts()[id]
	}
	return attempts
}

// journaled returns an observer that writes each result to the journal and then calls
// observe. It does not write the result of a task whose log could not be kept or that
// could not be started: the task may not be at fault, so a resumed run starts it again.
func (r *run) journaled(observe func(wrapper.Event)) func(wrapper.Event) {
	if r.journal == nil {
		return observe
	}
	return func(e wrapper.Event) {
		if e.Result != nil && !e.LogLost && e.Result.Class != plan.ClassEnvironment {
			r.journal.Add(*e.Result)
		}
		observe(e)
	}
}

// watched returns an observer that also tells who watches the run.
func (r *run) watched(observe func(wrapper.Event)) func(wrapper.Event) {
	if r.opts.Watch == nil {
		return observe
	}
	return func(e wrapper.Event) {
		observe(e)
		r.opts.Watch(e)
	}
}

// learn makes a secret known that a native reads. From then on it is masked in all output.
func (r *run) learn(secret string) {
	r.masker.Add(secret)
	r.learned.Store(true)
}

// maskLearned masks in all results the secrets that natives read in the run: a task that ended
// before may have told one of them. Without such secrets the results are masked already.
func (r *run) maskLearned(out *plan.Results) {
	if !r.learned.Load() {
		return
	}
	mask := func(texts ...*string) {
		for _, t := range texts {
			*t = r.masker.Text(*t)
		}
	}
	for i := range out.Warnings {
		mask(&out.Warnings[i])
	}
	for i := range out.Results {
		result := &out.Results[i]
		mask(&result.Reason, &result.Tail, &result.Unavailable)
		for j := range result.Before {
			mask(&result.Before[j].Reason)
		}
		if b := result.Baseline; b != nil {
			mask(&b.Finding)
			for j := range b.LeftOut {
				mask(&b.LeftOut[j])
			}
		}
		for j := range result.Findings {
			f := &result.Findings[j]
			mask(&f.Message, &f.File, &f.Pointer)
		}
		if e := result.Effects; e != nil {
			mask(&e.Unknown)
			for j := range e.Items {
				mask(&e.Items[j].Subject)
			}
		}
	}
}
