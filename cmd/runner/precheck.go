package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/cmd/internal/guard"
	"github.com/app-sre/prcheck/cmd/internal/memory"
	"github.com/app-sre/prcheck/cmd/internal/progress"
	"github.com/app-sre/prcheck/cmd/internal/source"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
)

type precheckFlags struct {
	in                                   source.Inputs
	validate                             source.Validation
	repo, logs, planOut, out, form, html string
	jobs                                 int
	progress                             progress.Mode
	memory                               memory.Limit
	failFast                             bool
}

func precheckCommand(env cli.Env) *cobra.Command {
	var f precheckFlags
	cmd := &cobra.Command{
		Use:   "precheck [flags]",
		Short: "Plan, run and report in one go",
		Long: `precheck decides which integrations the change must be dry-run with, runs them and
reports what they said. Without --base and --head it compares the working tree of
a checkout, with all that is not committed, with the commit where HEAD left the
branch that it will be merged into. Mistakes in what changed are told first, with
file, line and column, and then nothing runs.

After ctrl-C it stops what runs, reports what was known until then, and ends with
exit code 3.`,
		Example: `  runner precheck
  runner precheck --base git:v1 --html report.html
  runner precheck --base base.json --head head.json --config prcheck.yaml
  runner precheck --base base.json --head head.json --format markdown > report.md
  runner precheck --base base.json --head head.json --html report.html`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return guard.Work(cmd.Context(), env, guard.Hold{}, func(ctx context.Context, _ *os.File) error { return precheck(ctx, env, f) })
		},
	}
	cmd.Flags().StringVar(&f.in.Base, "base", "", "what is before the change: a bundle file, git:REV, dir:PATH or s3://BUCKET/KEY (default: where HEAD left the branch that it will be merged into)")
	cmd.Flags().StringVar(&f.in.Head, "head", "", "what is with the change (default: the working tree with all that is not committed)")
	cmd.Flags().StringVar(&f.repo, "repo", "", "folder of the checkout (default: the current one)")
	cmd.Flags().StringVar(&f.in.Config, "config", "", "settings file (default prcheck.yaml, here or in the checkout, if it exists)")
	cmd.Flags().Var(&f.validate, "validate", "how much of head is checked for mistakes first; auto is changed in a checkout, and none for bundle files")
	cmd.Flags().BoolVar(&f.in.NoCache, "no-cache", false, "remember nothing of checkouts that are bundled")
	cmd.Flags().StringVar(&f.in.State, "state", "", "folder to remember in what tasks asked when they passed, and how long they took (default: nothing is remembered)")
	cmd.Flags().StringVar(&f.logs, "logs", "logs", "folder for the complete logs")
	cmd.Flags().StringVar(&f.planOut, "plan", "", "file to keep the plan in")
	cmd.Flags().StringVar(&f.out, "out", "", "file to keep the results in")
	cmd.Flags().StringVar(&f.form, "format", "text", "how to write the report: text, json or markdown")
	cmd.Flags().StringVar(&f.html, "html", "", "file for a report to open in a browser, beside the other")
	cmd.Flags().IntVar(&f.jobs, "jobs", 0, "how many tasks run at once (default one per processor)")
	limitFlags(cmd, &f.memory, &f.failFast)
	progressFlag(cmd, &f.progress)
	return cmd
}

func precheck(ctx context.Context, env cli.Env, f precheckFlags) error {
	if err := checkFormat(f.form); err != nil {
		return err
	}
	if f.jobs < 0 {
		return cli.Usage(errors.New("--jobs must not be negative"))
	}
	var err error
	if f.in, err = fromCheckout(ctx, env, f.in, f.repo); err != nil {
		return err
	}
	change, err := f.in.Checked(ctx, env, f.validate)
	if err != nil {
		return baseTrouble(ctx, env, f.in, err)
	}
	p, err := change.Plan(ctx)
	if err != nil {
		return err
	}
	if f.planOut != "" {
		if err := cli.WriteFile(f.planOut, func(w io.Writer) error { return plan.Write(w, p) }); err != nil {
			return err
		}
	}
	j := job{plan: p, base: change.Base, head: change.Head, settings: change.Settings, jobs: f.jobs, logs: f.logs, progress: f.progress, memory: f.memory, failFast: f.failFast}
	if err := j.open(f.in.State); err != nil {
		return err
	}
	results, trouble := j.execute(ctx, env)
	if results == nil {
		return trouble
	}
	if f.out != "" {
		trouble = errors.Join(trouble, writeResults(env.Stdout, f.out, results))
	}
	if f.html != "" {
		trouble = errors.Join(trouble, writeHTML(f.html, p, results, change.Base, change.Head))
	}
	return errors.Join(trouble, writeReport(env, f.form, p, results))
}
