package runner

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/runner"
	"github.com/app-sre/prcheck/runner/archive"
	"github.com/app-sre/prcheck/runner/guard"
	"github.com/app-sre/prcheck/runner/journal"
	"github.com/app-sre/prcheck/runner/submit"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/world"
)

type runFlags struct {
	executionFlags
	planFlags
	audit      auditFlags
	state, out string
	baseDir    string
	part       plan.Fraction
	resume     bool
	natives    []integration.DryRunner
}

func runCommand(env cli.Env, natives []integration.DryRunner) *cobra.Command {
	f := runFlags{natives: natives}
	cmd := &cobra.Command{
		Use:   "run --plan FILE [flags]",
		Short: "Run the tasks of a plan",
		Long: `run checks that plan, bundles and settings belong together, then runs the plan's tasks
in parallel. The results go to stdout, or to the file that --out names. Bundles are read
from where the plan says, from the folder of the plan, or from where --base and --head
say. After ctrl-C the running tasks are stopped, the results so far are written, and the
exit code is 3.

With --partition 2/8 only the second of eight parts of the plan runs, so that several
machines can share a plan. The same plan always has the same parts. runner report merges
the results of the parts; tasks of a missing part count as failed. Plan, bundles, settings
and results may be objects, s3://BUCKET/KEY. If the results are an object, the complete
logs are stored beside it.

Each result is also written to a journal when its task ends: to results.jsonl beside
--out results.json, or else in the folder for logs. After a run was killed, --resume runs
only the tasks without a result in the journal.

With --audit 2% a sample of what the plan leaves out runs as well, after all tasks and
when the results are written. It shows whether skips are right, and changes no verdict.`,
		Example: `  runner run --plan plan.json --config prcheck.yaml --out results.json
  runner run --plan plan.json --partition 2/8 --out results-2.json
  runner run --plan plan.json --state .prcheck --audit 2% --out results.json
  runner report --plan plan.json --results results.json`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			held := guard.HeldFile{Name: journal.FileName(f.file(), f.logs), Open: journal.Open}
			return guard.Run(cmd.Context(), env, held, func(ctx context.Context, space guard.Workspace) error {
				defer journal.RemoveEmpty(space.File)
				f.temp = space.Folder
				return runPlan(git.Pin(ctx), env, f, space.File)
			})
		},
	}
	f.planFlags.register(cmd)
	f.executionFlags.register(cmd)
	cmd.Flags().StringVar(&f.state, "state", "", stateUsage)
	cmd.Flags().StringVar(&f.out, "out", "", "file for the results (default stdout)")
	cmd.Flags().StringVar(&f.baseDir, "base-dir", "", baseDirUsage)
	cmd.Flags().Var(submit.PartFlag{Fraction: &f.part, Getenv: env.Getenv}, "partition",
		`part of the plan to run: 2/8 is the second of eight parts. index/8 takes the number
from the variable JOB_COMPLETION_INDEX, which counts from 0, and index+3/8 adds 3 to
it (default: the whole plan)`)
	f.audit.register(cmd)
	cmd.Flags().BoolVar(&f.resume, "resume", false, "run only the tasks that had not ended in the last run of this plan")
	return cmd
}

func runPlan(ctx context.Context, env cli.Env, f runFlags, file *os.File) (err error) {
	err = change.CheckPaths(ctx, env, change.Paths{Read: []string{f.plan}, Files: []string{f.out},
		Folders: []string{f.logs}})
	if err != nil {
		return err
	}
	if err := f.audit.check(); err != nil {
		return cli.Usage(err)
	}
	in, rules, err := f.load(ctx, env)
	if err != nil {
		return err
	}
	opts := f.options(env)
	opts.Part, opts.Journal, opts.Resume = f.part, file, f.resume
	results, trouble := runner.Run(ctx, in, opts)
	defer func() { err = errors.Join(err, in.Places.Close()) }()
	if results == nil {
		return trouble
	}
	if f.audit.rate > 0 && f.out != "" { // the results do not wait for the audit
		trouble = errors.Join(trouble, f.write(ctx, env.Stdout, results))
	}
	f.audit.add(ctx, env.Stderr, in, opts, results, func() (planner.Input, error) {
		w, open, _ := f.worlds(ctx, env, in.Plan, rules)
		return change.Planned{Plan: in.Plan, Base: in.Base, Head: in.Head, Settings: rules, State: in.State, Own: f.own(env),
			Open: open, Worlds: w, Natives: f.natives}.Input(ctx)
	})
	trouble = errors.Join(trouble, f.write(ctx, env.Stdout, results))
	return errors.Join(trouble, verdictError(results))
}

// load opens the plan, and the bundles and settings that it was made from.
func (f runFlags) load(ctx context.Context, env cli.Env) (in runner.Input, rules source.OpenedSettings, err error) {
	in = runner.Input{Natives: f.natives, Connect: connect(env), Getenv: env.Getenv, Environ: env.Environ}
	if in.Plan, err = source.FetchPlan(ctx, f.plan); err != nil {
		return in, rules, err
	}
	if f.jobs < 0 {
		return in, rules, cli.Usage(errors.New("--jobs must not be negative"))
	}
	if rules, err = f.rules(ctx, env, in.Plan); err != nil {
		return in, rules, err
	}
	in.State, err = change.TryState(ctx, env, change.StateFlag{
		Place: f.state, Access: state.Writing, Settings: rules, Base: in.Plan.Base.Ref, Head: in.Plan.Head.Ref,
	})
	if err != nil {
		return in, rules, err
	}
	in.Settings = rules.Settings
	open := source.In(env).With(rules)
	if in.Base, err = f.bundle(ctx, open, f.base, in.Plan.Base, nil); err != nil {
		return in, rules, err
	}
	if err := change.Reach(ctx, env, in.Plan.Head.Ref); err != nil && f.head == "" {
		return in, rules, err
	}
	if in.Head, err = f.bundle(ctx, open, f.head, in.Plan.Head, in.Base); err != nil {
		return in, rules, err
	}
	in.BaseSettings = change.BaseSettings(ctx, rules, f.reference(f.base, in.Plan.Base))
	w, open, keeper := f.worlds(ctx, env, in.Plan, rules)
	if w.Head != nil && strings.HasPrefix(f.reference(f.head, in.Plan.Head), "dir:") {
		if _, err = w.Head(); err != nil {
			return in, rules, err // they are not those of the plan
		}
	}
	in.Programs = change.Programs(ctx, open, rules, w.Head, f.own(env))
	in.Places, err = placesOf(ctx, env, w, rules, keeper)
	return in, rules, err
}

// worlds returns the files of both sides of a plan.
func (f runFlags) worlds(ctx context.Context, env cli.Env, p *plan.Plan,
	rules source.OpenedSettings) (change.Worlds, source.Opener, world.Keeper) {
	open := change.Inputs{}.OpenerWith(env, rules)
	keeper, own := keeperIn(open, f.temp), f.own(env)
	w := change.OpenWorlds(ctx, open, own, keeper, f.reference(f.base, p.Base), f.reference(f.head, p.Head))
	w = w.OfPlan(ctx, open, own, keeper, f.reference(f.head, p.Head), p.Head)
	return w.WithBase(ctx, open, own, keeper, f.baseDir), open, keeper
}

// own names what the command writes.
func (f runFlags) own(env cli.Env) source.Own {
	return source.Own{Files: []string{f.plan, f.out, f.base, f.head}, State: f.state,
		Cache: source.CacheFolder(env.Getenv)}
}

// file returns the file for the results, "" if they go to stdout or to a bucket.
func (f runFlags) file() string {
	if source.IsObject(f.out) {
		return ""
	}
	return f.out
}

// write writes results to the file or object of --out, or to stdout.
func (f runFlags) write(ctx context.Context, stdout io.Writer, r *plan.Results) error {
	if !source.IsObject(f.out) {
		return writeResults(stdout, f.out, r)
	}
	bucket, key, err := source.Bucket(ctx, f.out)
	if err != nil {
		return err
	}
	return archive.StoreResults(ctx, bucket, key, f.logs, r)
}

// writeResults writes results to a file, or to stdout if no file is named.
func writeResults(stdout io.Writer, name string, r *plan.Results) error {
	write := func(w io.Writer) error { return plan.WriteResults(w, r) }
	if name == "" {
		return write(stdout)
	}
	return cli.WriteFile(name, write)
}
