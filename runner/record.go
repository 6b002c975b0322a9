package runner

import (
	"context"
	"io"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/runner/findings"
	"github.com/app-sre/prcheck/runner/launch"
	"github.com/app-sre/prcheck/runner/recording"
	"github.com/app-sre/prcheck/state/dependence"
	"github.com/app-sre/prcheck/state/files"
	"github.com/app-sre/prcheck/trace"
	"github.com/app-sre/prcheck/wrapper"
)

// A Recorded is the outcome of [Record].
type Recorded struct {
	Result   plan.Result
	Trace    *trace.Trace // the queries of the task
	Warnings []string     // messages for people, about a trace that could not be saved for example
}

// Record runs one task without a plan, and writes the output of the task to out. If the task
// passes, its trace is saved in the state.
func Record(ctx context.Context, in Input, task plan.Task, out io.Writer) (Recorded, error) {
	in = in.withDefaults()
	if err := in.readBundles(); err != nil {
		return Recorded{}, err
	}
	in.Base = bundle.Apart(in.Base, in.Head)
	tasks := []plan.Task{task}
	recorder := recording.New(in.Base.SHA256(), in.Head.SHA256())
	masker := mask.New(nil)
	r := &run{Input: in, masker: masker, canRecord: func() bool { return true }}
	r.Plan = &plan.Plan{Tasks: tasks}
	start := launch.Equipment{
		Base: in.Base, Head: in.Head, Settings: in.Settings, Place: r.placeOnHead, IsRecorded: r.isRecorded,
		Read:    r.read.note,
		Natives: in.Natives, Systems: in.Connect(in.Settings, func(secret string) { masker.Add(secret) }), State: in.State,
		Observe: recorder.StartAttempt, Getenv: in.Getenv, Environ: in.Environ,
	}
	masker.Add(start.Secrets(tasks)...)
	recorder.Mask = masker.Text
	start.Findings = func(plan.Task) *findings.Collection { return findings.New(masker, nil) }
	executor, err := start.Runner(tasks)
	if err != nil {
		return Recorded{}, err
	}
	results, err := wrapper.Run(ctx, tasks, executor, wrapper.RunOptions{Jobs: 1, Logs: outputLogs{out}, Masker: masker})
	if err != nil {
		return Recorded{}, err
	}
	if ctx.Err() != nil {
		return Recorded{}, ctx.Err()
	}
	now := time.Now()
	ids, errs := r.readIDs(ctx, results)
	recorder.Files = func(task string) files.ID { return ids[task] }
	var warnings []string
	for _, err := range errs {
		warnings = append(warnings, err.Error())
	}
	warnings = append(warnings, recorder.CheckAndSave(ctx, trace.NewStore(in.State), &plan.Plan{Tasks: tasks}, results,
		in.Settings, now)...)
	definitions, err := integration.List(in.Base, in.Settings)
	if err != nil {
		return Recorded{}, err
	}
	if !results[0].OK() {
		return Recorded{results[0], recorder.LastTrace(task, now), warnings}, nil
	}
	if err := dependence.NewStore(in.State).Add(ctx, r.withReads(recorder.Dependences(tasks, results, definitions, now),
		ids)); err != nil {
		warnings = append(warnings, err.Error())
	}
	return Recorded{results[0], recorder.LastTrace(task, now), warnings}, nil
}

// outputLogs writes the output of a task to a writer instead of a log file.
type outputLogs struct{ out io.Writer }

func (l outputLogs) Create(string, int) (io.WriteCloser, string, error) { return l, "", nil }
func (l outputLogs) Remove(string, int) error                           { return nil }
func (l outputLogs) Write(p []byte) (int, error)                        { return l.out.Write(p) }
func (l outputLogs) Close() error                                       { return nil }
