package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/guard"
	"github.com/app-sre/prcheck/runner/journal"
	"github.com/app-sre/prcheck/runner/memory"
	"github.com/app-sre/prcheck/runner/progress"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
)

type runFlags struct {
	plan, base, head, config, state, logs, out string
	jobs                                       int
	part                                       plan.Fraction
	noBaseline                                 bool
	progress                                   progress.Mode
	memory                                     memory.Limit
	resume, failFast                           bool
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
			hold := guard.Hold{Name: journal.Name(f.file(), f.logs), Open: journal.Open}
			return guard.Work(cmd.Context(), env, hold, func(ctx context.Context, file *os.File) error {
				defer journal.Tidy(file)
				return runPlan(ctx, env, f, file)
			})
		},
	}
	cmd.Flags().StringVar(&f.plan, "plan", "", "plan that planner wrote (required)")
	cmd.Flags().StringVar(&f.base, "base", "", "bundle before the change, when it is not where the plan says")
	cmd.Flags().StringVar(&f.head, "head", "", "bundle with the change, when it is not where the plan says")
	cmd.Flags().StringVar(&f.config, "config", "", "settings the plan was made with: a file, base:PATH or git:REV[@DIR]:PATH (default prcheck.yaml, here or of the plan's base)")
	cmd.Flags().StringVar(&f.state, "state", "", "folder, or s3://BUCKET/PREFIX, to remember in what tasks asked when they passed, and with which inputs, how long they took, and which are flaky (default: nothing is remembered)")
	cmd.Flags().StringVar(&f.logs, "logs", "logs", "folder for the complete logs")
	cmd.Flags().StringVar(&f.out, "out", "", "file for the results (default stdout)")
	cmd.Flags().IntVar(&f.jobs, "jobs", 0, "how many tasks run at once (default one per processor)")
	cmd.Flags().Var(indexed{&f.part, env.Getenv}, "partition", `the part of the plan to run: 2/8 is the second of eight, and index/8 the one after
the number in JOB_COMPLETION_INDEX, index+3/8 three further on (default: all of it)`)
	cmd.Flags().BoolVar(&f.resume, "resume", false, "run only what had not finished when the last run of this plan ended")
	baselineFlag(cmd, &f.noBaseline)
	limitFlags(cmd, &f.memory, &f.failFast)
	progressFlag(cmd, &f.progress)
	return cmd
}

// baselineFlag is the flag that leaves out the runs on base.
func baselineFlag(cmd *cobra.Command, no *bool) {
	cmd.Flags().BoolVar(no, "no-baseline", false, "do not run failed tasks again on base; every failure fails the check")
}

// limitFlags are the flags that say what does not start.
func limitFlags(cmd *cobra.Command, limit *memory.Limit, failFast *bool) {
	cmd.Flags().Var(limit, "memory", `how much memory the tasks that run at once may need together, by what exec.memory
says: an amount such as 8GiB, or auto for nine tenths of what this machine has
to give (default: no limit)`)
	cmd.Flags().BoolVar(failFast, "fail-fast", false, "start nothing more after the first task that fails and does not fail the same way on base (default: run everything)")
}

// progressFlag is the flag that says how progress is shown.
func progressFlag(cmd *cobra.Command, mode *progress.Mode) {
	cmd.Flags().Var(mode, "progress", `how to show on stderr what runs: terminal (a bar, and a line for each running
task, redrawn), plain (a line for each task that ended, one twice a minute that
names what runs, and sections in GitLab), none, or auto: terminal where stderr is
one and CI is not set, else plain`)
}

func runPlan(ctx context.Context, env cli.Env, f runFlags, file *os.File) error {
	j, err := f.load(ctx, env)
	if err != nil {
		return err
	}
	if err := j.begin(file, f.resume, env.Stderr); err != nil {
		return err
	}
	results, trouble := j.execute(ctx, env)
	if results == nil {
		return trouble
	}
	if source.IsObject(f.out) {
		trouble = errors.Join(trouble, keepResults(ctx, f.out, f.logs, results))
	} else {
		trouble = errors.Join(trouble, writeResults(env.Stdout, f.out, results))
	}
	if results.Failed() {
		trouble = errors.Join(trouble, cli.ErrFailed)
	}
	return trouble
}

// load reads the plan and what it was made from, and checks that nothing
// changed since.
func (f runFlags) load(ctx context.Context, env cli.Env) (job, error) {
	j := job{jobs: f.jobs, part: f.part, noBaseline: f.noBaseline, logs: f.logs, progress: f.progress, memory: f.memory, failFast: f.failFast}
	var err error
	if j.plan, err = source.FetchPlan(ctx, f.plan); err != nil {
		return j, err
	}
	j.plan.Tasks = f.part.Tasks(j.plan.Tasks) // the others are not ours
	if f.jobs < 0 {
		return j, cli.Usage(errors.New("--jobs must not be negative"))
	}
	if j.state, err = source.Memory(env, f.state, state.Writing); err != nil {
		return j, err
	}
	rules, err := f.rules(ctx, env, j.plan)
	if err != nil {
		return j, err
	}
	j.settings = rules.Settings
	open := rules.With(source.In(env))
	if j.base, err = f.bundle(ctx, open, f.base, j.plan.Base, nil); err != nil {
		return j, err
	}
	if err := source.Reach(ctx, env, j.plan.Head.Ref); err != nil && f.head == "" {
		return j, err
	}
	j.head, err = f.bundle(ctx, open, f.head, j.plan.Head, j.base)
	return j, err
}

// rules reads the settings of the plan.
func (f runFlags) rules(ctx context.Context, env cli.Env, p *plan.Plan) (source.Rules, error) {
	if err := source.Reach(ctx, env, p.Base.Ref); err != nil && f.base == "" {
		return source.Rules{}, err
	}
	rules, err := source.PlanRules(ctx, f.config, p)
	if err == nil && rules.Digest() != p.Config {
		err = cli.Invalid(otherSettings(rules.Settings))
	}
	return rules, err
}

func otherSettings(s *integration.Settings) error {
	if s.File == "" {
		return errors.New("the plan was made with settings, and there is no " + source.DefaultSettings + " here: give them with --config")
	}
	return fmt.Errorf("the plan was made with other settings than %q: give those with --config, or plan again", s.File)
}

// bundle opens one side's bundle and holds it to the plan's sha256.
func (f runFlags) bundle(ctx context.Context, open source.Opener, flag string, side plan.Side, like *bundle.Bundle) (*bundle.Bundle, error) {
	name := f.reference(flag, side)
	b, err := open.Bundle(ctx, name, like)
	if err != nil {
		return nil, err
	}
	return b, held(name, b.SHA256(), side)
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

// held is an error unless a bundle is the one of the plan.
func held(name, sha256 string, side plan.Side) error {
	if sha256 == side.SHA256 {
		return nil
	}
	return cli.Invalid(fmt.Errorf("bundle %q is not the one of the plan: its sha256 is %s, the plan's %s", name, sha256, side.SHA256))
}

func writeResults(stdout io.Writer, name string, r *plan.Results) error {
	write := func(w io.Writer) error { return plan.WriteResults(w, r) }
	if name == "" {
		return write(stdout)
	}
	return cli.WriteFile(name, write)
}
