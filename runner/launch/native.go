package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/effects"
	"github.com/app-sre/prcheck/runner/findings"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/wrapper"
)

// A runner runs each task either as a process or as a native integration.
type runner struct {
	Equipment
	process wrapper.Process
}

// Run runs one task until it ends.
func (r runner) Run(ctx context.Context, task plan.Task, log io.Writer) error {
	var finder *effects.Finder
	if r.Effects != nil {
		finder = r.Effects(task)
	}
	if finder != nil {
		log = io.MultiWriter(log, finder)
	}
	if !task.Native {
		return r.runProcess(ctx, task, log, finder)
	}
	n, ok := integration.FindNative(r.Natives, r.Settings.For(task.Integration))
	if !ok {
		return &wrapper.ConfigError{Err: fmt.Errorf("this runner has no native integration %q: "+
			"use the runner that belongs to the planner", task.Integration)}
	}
	return r.runNative(ctx, n, task, log, finder)
}

// runNative makes the dry run of a native integration. It sends its queries to a server of its
// own, which allows only the schemas of its definition, as the server of a process does.
func (r runner) runNative(ctx context.Context, n integration.DryRunner, task plan.Task, log io.Writer,
	finder *effects.Finder) (failure error) {
	endpoint, err := r.process.Open(ctx, task)
	if err != nil {
		return wrapper.StartError(fmt.Errorf("opening the endpoint: %w", err))
	}
	defer func() { failure = errors.Join(failure, endpoint.Close()) }()
	vars := endpoint.Vars()
	if r.process.HandOut != nil {
		r.process.HandOut(task, slices.Collect(maps.Values(vars)))
	}
	found := r.collection(task)
	env := r.readable(task)
	env.Query, env.Base, env.Log = queryFunc(vars[graphqlURL], vars[settings.GraphQLToken]),
		queryFunc(vars[baseURL], vars[settings.GraphQLToken]), log
	env.Report = func(f integration.Remark) {
		switch {
		case f.Effect == nil && f.Unlooked == nil:
			found.Add(f.Finding)
		case finder == nil:
		case f.Effect != nil:
			finder.Announce(*f.Effect)
		default:
			finder.Unlook(*f.Unlooked)
		}
	}
	err = n.DryRun(ctx, env)
	return withClass(withFindings(err, found.Failure()))
}

// readable returns an environment with everything that a task may read beside the data: its
// settings, live systems and what its integration remembers. Nothing in it can write: where the
// settings allow it, clusters try writes that they do not keep.
func (r runner) readable(task plan.Task) integration.Environment {
	env := integration.Environment{
		Integration: task.Integration, Settings: r.Settings.For(task.Integration),
		Shard: task.Shard, Static: task.Static, Now: time.Now,
	}
	var from Systems = nowhere{}
	if r.Systems != nil {
		from = r.Systems(task.Integration)
	}
	env.Secret, env.Cluster, env.Bucket, env.Variable = from.Secret, from.Reader, from.BucketReader, from.Variable
	env.Endpoint = from.EndpointReader
	if env.Settings.ServerDryRun {
		env.Trial, env.EndpointTrial = from.Trial, from.EndpointTrial
	}
	if r.State != nil {
		env.State = state.ReadOnly(state.ForNative(r.State, task.Integration))
	}
	return env
}

// collection returns the collection that takes the findings of an attempt.
func (r runner) collection(task plan.Task) *findings.Collection {
	if r.Findings == nil {
		return findings.New(mask.New(nil), nil)
	}
	return r.Findings(task)
}

// withFindings adds findings that fail a task to the error of its dry run. They come first,
// because a long reason is cut at its end.
//
// Without an error the data are wrong, and so they are if findings name files of the data. Other
// findings leave the class to the error: it may say that a target cannot be reached, and then a
// finding often repeats it.
func withFindings(err error, found *findings.Failure) error {
	switch {
	case found == nil:
		return err
	case err == nil:
		return integration.Failure(integration.FailureOfConfig, found)
	case found.HasFile:
		return errors.Join(integration.Failure(integration.FailureOfConfig, found), err)
	case found.Findings == 1 && strings.Contains(err.Error(), found.First.Message):
		return err
	}
	return errors.Join(found, err)
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
