package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/cmd/internal/change"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner"
	"github.com/app-sre/prcheck/runner/guard"
	"github.com/app-sre/prcheck/runner/journal"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
)

type runFlags struct {
	executionFlags
	plan, base, head, config, state, out string
	part                                 plan.Fraction
	resume                               bool
}

func runCommand(env cli.Env) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run --plan FILE [flags]",
		Short: "Run the tasks of a plan",
		Long: `run checks the plan's digest, the bundles' sha256 and the settings, then runs the
plan's tasks in parallel. The results go to stdout, or to the file that --out
names. Bundles are looked for where the plan says, beside the plan, or where
--base and --head say. After ctrl-C it stops what runs, writes the results that
there are, and ends with exit code 3.

With --partition i/n only the i-th of n parts of the plan runs, so that n machines
share it: the same plan gives the same parts everywhere. runner report puts their
results together, and a part that is missing there has failed. Plan, bundles,
settings and results may be objects, s3://BUCKET/KEY; beside results in a bucket
the complete logs are kept, too.

Each result is written down when its task ends, in results.jsonl beside --out
results.json, or in the folder of the logs. After a run that was killed, --resume
runs only what had not finished.`,
		Example: `  runner run --plan plan.json --config prcheck.yaml --out results.json
  runner run --plan plan.json --partition 2/8 --out results-2.json
  runner report --plan plan.json --results results.json`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			hold := guard.HeldFile{Name: journal.FileName(f.file(), f.logs), Open: journal.Open}
			return guard.Run(cmd.Context(), env, hold, func(ctx context.Context, file *os.File) error {
				defer journal.RemoveEmpty(file)
				return runPlan(ctx, env, f, file)
			})
		},
	}
	cmd.Flags().StringVar(&f.plan, "plan", "", "plan that planner wrote (required)")
	cmd.Flags().StringVar(&f.base, "base", "", "bundle before the change, when it is not where the plan says")
	cmd.Flags().StringVar(&f.head, "head", "", "bundle with the change, when it is not where the plan says")
	cmd.Flags().StringVar(&f.config, "config", "", "settings the plan was made with: a file, base:PATH or git:REV[@DIR]:PATH (default prcheck.yaml, here or of the plan's base)")
	cmd.Flags().StringVar(&f.state, "state", "", "folder, or s3://BUCKET/PREFIX, to remember in what tasks asked when they passed, and with which inputs, how long they took, and which are flaky (default: nothing is remembered)")
	cmd.Flags().StringVar(&f.out, "out", "", "file for the results (default stdout)")
	cmd.Flags().Var(partFlag{&f.part, env.Getenv}, "partition", `the part of the plan to run: 2/8 is the second of eight, and index/8 the one after
the number in JOB_COMPLETION_INDEX, index+3/8 three further on (default: all of it)`)
	cmd.Flags().BoolVar(&f.resume, "resume", false, "run only what had not finished when the last run of this plan ended")
	f.register(cmd)
	return cmd
}

func runPlan(ctx context.Context, env cli.Env, f runFlags, file *os.File) error {
	in, err := f.load(ctx, env)
	if err != nil {
		return err
	}
	opts := f.options(env)
	opts.Part, opts.Journal, opts.Resume = f.part, file, f.resume
	results, trouble := runner.Run(ctx, in, opts)
	if results == nil {
		return trouble
	}
	trouble = errors.Join(trouble, f.write(ctx, env.Stdout, results))
	if results.Failed() {
		trouble = errors.Join(trouble, cli.ErrFailed)
	}
	return trouble
}

// load opens what the plan was made from.
func (f runFlags) load(ctx context.Context, env cli.Env) (in runner.Input, err error) {
	in = runner.Input{Natives: change.Natives(), Getenv: env.Getenv, Environ: env.Environ}
	if in.Plan, err = source.FetchPlan(ctx, f.plan); err != nil {
		return in, err
	}
	if f.jobs < 0 {
		return in, cli.Usage(errors.New("--jobs must not be negative"))
	}
	if in.State, err = change.TryState(ctx, env, f.state, state.Writing); err != nil {
		return in, err
	}
	rules, err := f.rules(ctx, env, in.Plan)
	if err != nil {
		return in, err
	}
	in.Settings, in.Folder = rules.Settings, rules.Settings.Folder()
	open := source.In(env).With(rules)
	if in.Base, err = f.bundle(ctx, open, f.base, in.Plan.Base, nil); err != nil {
		return in, err
	}
	if err := change.Reach(ctx, env, in.Plan.Head.Ref); err != nil && f.head == "" {
		return in, err
	}
	in.Head, err = f.bundle(ctx, open, f.head, in.Plan.Head, in.Base)
	return in, err
}

// rules reads the settings of the plan.
func (f runFlags) rules(ctx context.Context, env cli.Env, p *plan.Plan) (source.Settings, error) {
	if err := change.Reach(ctx, env, p.Base.Ref); err != nil && f.base == "" {
		return source.Settings{}, err
	}
	rules, err := change.SettingsOfPlan(ctx, f.config, p)
	if err == nil {
		err = cli.Invalid(runner.CheckSettings(p, rules.Settings))
	}
	return rules, err
}

// bundle opens one side's bundle and holds it to the plan's sha256.
func (f runFlags) bundle(ctx context.Context, open source.Opener, flag string, side plan.Side, like *bundle.Bundle) (*bundle.Bundle, error) {
	name := f.reference(flag, side)
	b, err := open.Bundle(ctx, name, like)
	if err != nil {
		return nil, err
	}
	return b, cli.Invalid(side.CheckBundle(name, b.SHA256()))
}

// reference is where a side's bundle is looked for: where the flag says, where
// the plan says, or beside the plan.
func (f runFlags) reference(flag string, side plan.Side) string {
	if flag != "" {
		return flag
	}
	name := side.Ref
	if source.IsLive(name) || source.IsCheckout(name) || source.IsObject(name) {
		return name
	}
	name = filepath.FromSlash(name)
	if _, err := os.Stat(name); err != nil && !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(f.plan), name)
	}
	return name
}
