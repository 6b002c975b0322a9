package runner

import (
	"context"
	"io"
	"time"

	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/launch"
	"github.com/app-sre/prcheck/runner/recording"
	"github.com/app-sre/prcheck/trace"
	"github.com/app-sre/prcheck/wrapper"
)

// A Recorded task is one that ran to note what it asks.
type Recorded struct {
	Result   plan.Result
	Trace    *trace.Trace // what the task asked
	Warnings []string     // about traces that could not be remembered, for people
}

// Record runs one task, which needs no plan, and remembers in the state what it asks when it
// passes. The output of the task goes to out.
func Record(ctx context.Context, in Input, task plan.Task, out io.Writer) (Recorded, error) {
	in = in.withDefaults()
	tasks := []plan.Task{task}
	noted := recording.New(in.Base.SHA256(), in.Head.SHA256())
	start := launch.Environment{
		Base: in.Base, Head: in.Head, Settings: in.Settings, Folder: in.Folder,
		Natives: in.Natives, Observe: noted.Task, Getenv: in.Getenv, Environ: in.Environ,
	}
	secrets := start.Secrets(tasks)
	noted.Mask = mask.New(secrets).Text
	executor, err := start.Runner(tasks)
	if err != nil {
		return Recorded{}, err
	}
	results, err := wrapper.Run(ctx, tasks, executor, wrapper.Options{Jobs: 1, Logs: outputLogs{out}, Secrets: secrets})
	if err != nil {
		return Recorded{}, err
	}
	if ctx.Err() != nil {
		return Recorded{}, ctx.Err()
	}
	now := time.Now()
	warnings := noted.Keep(ctx, trace.NewStore(in.State), &plan.Plan{Tasks: tasks}, results, in.Settings, now)
	return Recorded{results[0], noted.Trace(task, now), warnings}, nil
}

// outputLogs keeps no log: the output of a task goes where it can be read at once.
type outputLogs struct{ out io.Writer }

func (l outputLogs) Create(string, int) (io.WriteCloser, string, error) { return l, "", nil }
func (l outputLogs) Remove(string, int) error                           { return nil }
func (l outputLogs) Write(p []byte) (int, error)                        { return l.out.Write(p) }
func (l outputLogs) Close() error                                       { return nil }
