package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/effects"
	"github.com/app-sre/prcheck/wrapper"
)

// A runner runs each task either as a process or as a native integration.
type runner struct {
	process wrapper.Process
	natives []integration.Native
	effects func(plan.Task) *effects.Finder // may be nil
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
	for _, n := range r.natives {
		if n.Name() == task.Integration {
			return r.runNative(ctx, n, task, log, finder)
		}
	}
	return &wrapper.ConfigError{Err: fmt.Errorf("this runner has no native integration %q: use the runner that belongs to the planner", task.Integration)}
}

// runNative runs a native integration. It sends its queries to a server of its own, which
// allows only the schemas of its definition, as the server of a process does.
func (r runner) runNative(ctx context.Context, n integration.Native, task plan.Task, log io.Writer, finder *effects.Finder) (failure error) {
	endpoint, err := r.process.Open(ctx, task)
	if err != nil {
		return wrapper.StartError(fmt.Errorf("opening the endpoint: %w", err))
	}
	defer func() { failure = errors.Join(failure, endpoint.Close()) }()
	if r.process.HandOut != nil {
		r.process.HandOut(task, slices.Collect(maps.Values(endpoint.Vars())))
	}
	env := integration.Environment{Query: queryFunc(endpoint.Vars()["graphql_url"]), Log: log, Shard: task.Shard}
	announcer, ok := integration.AsAnnouncer(n)
	if !ok {
		const dryRun = true
		return withClass(n.Run(ctx, env, dryRun))
	}
	announced, err := announcer.DryRun(ctx, env)
	for _, e := range announced {
		if finder != nil {
			finder.Announce(e)
		}
	}
	return withClass(err)
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
