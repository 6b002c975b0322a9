package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/effects"
	"github.com/app-sre/prcheck/wrapper"
)

// A runner runs each task either as a process or as a native integration.
type runner struct {
	process  wrapper.Process
	settings *integration.Settings
	natives  []integration.Native
	effects  func(plan.Task) *effects.Finder // may be nil
}

// Run runs one task until it ends.
func (r runner) Run(ctx context.Context, task plan.Task, log io.Writer) error {
	var finder *effects.Finder
	if r.effects != nil {
		finder = r.effects(task)
	}
	if finder != nil {
		log = io.MultiWriter(log, finder)
	}
	if !task.Native {
		process := r.process
		if finder != nil {
			process.Effects = func(file string) { readEffects(file, finder) }
		}
		return process.Run(ctx, task, log)
	}
	n, ok := integration.FindNative(r.natives, r.settings.For(task.Integration))
	if !ok {
		return &wrapper.ConfigError{Err: fmt.Errorf("this runner has no native integration %q: use the runner that belongs to the planner", task.Integration)}
	}
	return r.runNative(ctx, n, task, log, finder)
}

// runNative makes the dry run of a native integration. It sends its queries to a server of its
// own, which allows only the schemas of its definition, as the server of a process does.
func (r runner) runNative(ctx context.Context, n integration.Native, task plan.Task, log io.Writer, finder *effects.Finder) (failure error) {
	endpoint, err := r.process.Open(ctx, task)
	if err != nil {
		return wrapper.StartError(fmt.Errorf("opening the endpoint: %w", err))
	}
	defer func() { failure = errors.Join(failure, endpoint.Close()) }()
	vars := endpoint.Vars()
	if r.process.HandOut != nil {
		r.process.HandOut(task, slices.Collect(maps.Values(vars)))
	}
	reports := &reports{finder: finder}
	env := integration.Environment{
		Integration: task.Integration, Settings: r.settings.For(task.Integration),
		Query: queryFunc(vars[graphqlURL]), Base: queryFunc(vars[baseURL]),
		Shard: task.Shard, Static: task.Static, Now: time.Now, Log: log, Report: reports.add,
	}
	return withClass(errors.Join(n.DryRun(ctx, env), reports.failure()))
}

// Reports are the findings and effects of one attempt.
type reports struct {
	finder *effects.Finder // nil if nobody looks for effects

	mu    sync.Mutex
	fatal []plan.Finding
}

// add takes a finding.
func (r *reports) add(f integration.Finding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.Effect != nil && r.finder != nil {
		r.finder.Announce(*f.Effect)
	}
	if f.Effect == nil && f.Fails() {
		r.fatal = append(r.fatal, f.Finding)
	}
}

// failure returns an error if a finding fails the task.
func (r *reports) failure() error {
	switch n := len(r.fatal); n {
	case 0:
		return nil
	case 1:
		return errors.New(r.fatal[0].Message)
	default:
		return fmt.Errorf("%s, and %d more", r.fatal[0].Message, n-1)
	}
}

// withClass returns the error of a native integration with the class that the integration gave
// it, so that the task fails with it.
func withClass(err error) error {
	switch integration.ClassOfFailure(err) {
	case integration.FailureOfConfig:
		return &wrapper.ConfigError{Err: err}
	case integration.FailureTransient:
		return &wrapper.TransientError{Err: err}
	default:
		return err
	}
}
