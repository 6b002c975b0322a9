package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/internal/reads"
	"github.com/app-sre/prcheck/internal/safepath"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/effects"
	"github.com/app-sre/prcheck/runner/findings"
	"github.com/app-sre/prcheck/runner/place"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/world"
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
			finder.Announce(effectOf(f))
		default:
			finder.Unlook(*f.Unlooked)
		}
	}
	err = n.DryRun(ctx, env)
	return withClass(withFindings(err, found.Failure()))
}

// effectOf returns the effect of a remark, with the place of its finding unless the native names what leads to it.
func effectOf(r integration.Remark) plan.Effect {
	e := *r.Effect
	if len(e.Cause) == 0 && r.File != "" {
		e.Cause = []plan.Cause{{Place: r.Place}}
	}
	return e
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

// runProcess runs the command of a task in a place of its own. It fails as a shortage when the
// place cannot be made, or when it was not what it should be: then nobody knows what the task
// has checked.
func (r runner) runProcess(ctx context.Context, task plan.Task, log io.Writer, finder *effects.Finder) error {
	at, err := r.Place(ctx, task)
	if err != nil {
		return &wrapper.ShortageError{Err: fmt.Errorf("the files in which it starts cannot be made: %w", err)}
	}
	doubt, err := r.runAt(ctx, at, task, log, finder)
	if damage := at.Close(); damage != nil {
		return &wrapper.ShortageError{Err: fmt.Errorf("the files in which it ran: %w", damage), Ran: true}
	}
	if doubt != "" && ctx.Err() == nil {
		return &wrapper.ShortageError{Err: errors.New(doubt), Ran: true}
	}
	return err
}

// runAt runs the command of a task in a place. The doubt says that a file that it read was
// changed by somebody else meanwhile.
func (r runner) runAt(ctx context.Context, at place.Place, task plan.Task, log io.Writer,
	finder *effects.Finder) (doubt string, err error) {
	if err := r.prepare(ctx, at, task, log); err != nil {
		return "", err
	}
	wrote := ""
	process := r.process
	process.Command = func(t plan.Task) (wrapper.Command, error) { return r.command(t, at) }
	process.HandOut = func(t plan.Task, values []string) { r.handOut(t, append(values, at.From, at.Root)) }
	if finder != nil {
		process.Effects = func(file string) { readEffects(file, finder) }
	}
	if r.Read != nil && (r.IsRecorded == nil || r.IsRecorded(task)) && at.Root != "" {
		process.Reads = func(plan.Task) reads.Scope { return at.Reads() }
		process.Record = func(t plan.Task, rec reads.Record) {
			doubt, wrote = r.Read(t, at, rec), writtenInPlace(at, rec)
			if wrote != "" && r.WritesInPlace != nil {
				r.WritesInPlace(t)
			}
		}
	}
	err = process.Run(ctx, task, log)
	if wrote != "" && ctx.Err() == nil {
		return "", &wrapper.TransientError{Err: fmt.Errorf("it writes into %q in place; "+
			"it starts again with copies of its files", wrote)}
	}
	return doubt, err
}

// writtenInPlace returns a file of the tree that a task wrote into although it could only replace
// it; "" if there is none.
func writtenInPlace(at place.Place, rec reads.Record) string {
	if !at.IsLinked() || at.World == nil {
		return ""
	}
	for _, a := range rec.Accesses {
		rel, err := filepath.Rel(at.Root, a.Name)
		if !a.Wrote || a.MadeFirst || err != nil {
			continue
		}
		if _, kind, ok := at.World.Tree.Lookup(filepath.ToSlash(rel)); ok && kind == world.Regular {
			return rel
		}
	}
	return ""
}

// prepare runs the command with which the settings prepare a view of the files of a side. A task
// whose files cannot be prepared is not checked.
func (r runner) prepare(ctx context.Context, at place.Place, task plan.Task, log io.Writer) error {
	argv := r.Settings.Prepare()
	if len(argv) == 0 || !at.IsView() {
		return nil
	}
	_, _ = fmt.Fprintf(log, "prcheck: preparing the files with %q\n", argv) // the log is for people
	process := wrapper.Process{Temp: r.Temp, Command: func(t plan.Task) (wrapper.Command, error) {
		c, err := r.command(t, at)
		c.Argv, c.Config = argv, ""
		if at.Outside != "" {
			c.Dir = at.Root
		}
		return c, err
	}}
	if err := process.Run(ctx, task, log); err != nil {
		return &wrapper.ShortageError{Err: fmt.Errorf("preparing its files with %q: %w", argv, err)}
	}
	return nil
}

// Systems are what a native integration reads beside the data, as package natives/systems has
// them. Their libraries are large, so that only programs have them that start tasks.
type Systems interface {
	Secret(ctx context.Context, ref integration.SecretRef) (string, error)
	Reader(ctx context.Context, ref integration.ClusterRef) (integration.ClusterReader, error)
	Trial(ctx context.Context, ref integration.ClusterRef) (integration.ClusterTrial, error)
	BucketReader(ctx context.Context, place string) (integration.BucketReader, error)
	EndpointReader(ctx context.Context, ref integration.EndpointRef) (http.RoundTripper, error)
	EndpointTrial(ctx context.Context, ref integration.EndpointRef) (http.RoundTripper, error)
	Variable(name string) (string, bool)
}

// errNowhere says that there is nothing to read.
var errNowhere = integration.Failure(integration.FailureOfConfig, errors.New("this program reaches no live systems"))

// nowhere are systems without any system.
type nowhere struct{}

func (nowhere) Secret(context.Context, integration.SecretRef) (string, error) { return "", errNowhere }

func (nowhere) Reader(context.Context, integration.ClusterRef) (integration.ClusterReader, error) {
	return nil, errNowhere
}

func (nowhere) Trial(context.Context, integration.ClusterRef) (integration.ClusterTrial, error) {
	return nil, errNowhere
}

func (nowhere) Variable(string) (string, bool) { return "", false }

func (nowhere) BucketReader(context.Context, string) (integration.BucketReader, error) {
	return nil, errNowhere
}

func (nowhere) EndpointReader(context.Context, integration.EndpointRef) (http.RoundTripper, error) {
	return nil, errNowhere
}

func (nowhere) EndpointTrial(context.Context, integration.EndpointRef) (http.RoundTripper, error) {
	return nil, errNowhere
}

// readEffects reads the file into which a task wrote its effects. The task may have put
// anything in its place: a link is not followed, and a pipe is not waited for.
func readEffects(name string, finder *effects.Finder) {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		finder.MissFile("the task removed the folder of the file {effects}")
		return
	}
	defer root.Close()
	file, err := safepath.OpenFileIn(root, filepath.Base(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		finder.MissFile("the task removed the file {effects}")
		return
	case errors.Is(err, safepath.ErrLink):
		finder.MissFile("the task put a link in the place of the file {effects}")
		return
	case err != nil:
		finder.MissFile("the file {effects} cannot be opened")
		return
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		finder.MissFile("the task put something else in the place of the file {effects}")
		return
	}
	finder.ReadFile(file)
}
