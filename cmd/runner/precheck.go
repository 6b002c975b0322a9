package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/cmd/internal/change"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner"
	"github.com/app-sre/prcheck/runner/guard"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
)

type precheckFlags struct {
	executionFlags
	in                       change.Inputs
	validate                 cli.Choice
	repo, planOut, out, html string
	form                     cli.Choice
	ci                       ciFiles
}

func precheckCommand(env cli.Env) *cobra.Command {
	f := precheckFlags{form: formats(), validate: change.Validation()}
	cmd := &cobra.Command{
		Use:   "precheck [flags]",
		Short: "Plan, run and report in one go",
		Long: `precheck decides which integrations the change must be dry-run with, runs them and
reports what they said. Without --base and --head it compares the working tree of
a checkout, with all that is not committed, with the commit where HEAD left the
branch that it will be merged into; in a job of GitLab it compares what the
variables of the job name, and the settings are those of base. Mistakes in what
changed are told first, with file, line and column, and then nothing runs.

After ctrl-C it stops what runs, reports what was known until then, and ends with
exit code 3.`,
		Example: `  runner precheck
  runner precheck --base git:v1 --html report.html
  runner precheck --base base.json --head head.json --config prcheck.yaml
  runner precheck --base base.json --head head.json --format markdown > report.md
  runner precheck --base base.json --head head.json --html report.html`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return guard.Run(cmd.Context(), env, guard.HeldFile{}, func(ctx context.Context, _ *os.File) error { return precheck(ctx, env, f) })
		},
	}
	cmd.Flags().StringVar(&f.in.Base, "base", "", "what is before the change: a bundle file, git:REV, dir:PATH or s3://BUCKET/KEY (default: where HEAD left the branch that it will be merged into)")
	cmd.Flags().StringVar(&f.in.Head, "head", "", "what is with the change (default: the working tree with all that is not committed)")
	cmd.Flags().StringVar(&f.repo, "repo", "", "folder of the checkout (default: the current one)")
	cmd.Flags().StringVar(&f.in.Config, "config", "", "settings: a file, base:PATH or git:REV[@DIR]:PATH (default prcheck.yaml, here or in the checkout, if it exists)")
	cmd.Flags().Var(&f.validate, "validate", "how much of head is checked for mistakes first; auto is changed in a checkout, and none for bundle files")
	cmd.Flags().BoolVar(&f.in.NoCache, "no-cache", false, "remember nothing of checkouts that are bundled")
	cmd.Flags().StringVar(&f.in.State, "state", "", "folder, or s3://BUCKET/PREFIX, to remember in what tasks asked when they passed, and with which inputs, how long they took, and which are flaky (default: nothing is remembered)")
	cmd.Flags().BoolVar(&f.in.NoReuse, "no-reuse", false, "run also tasks that passed with the same inputs before, as --state remembers")
	cmd.Flags().StringVar(&f.planOut, "plan", "", "file to keep the plan in")
	cmd.Flags().StringVar(&f.out, "out", "", "file to keep the results in")
	cmd.Flags().Var(&f.form, "format", "how to write the report: text, json or markdown")
	cmd.Flags().StringVar(&f.html, "html", "", "file for a report to open in a browser, beside the other")
	f.ci.flags(cmd)
	f.register(cmd)
	return cmd
}

func precheck(ctx context.Context, env cli.Env, f precheckFlags) error {
	if f.jobs < 0 {
		return cli.Usage(errors.New("--jobs must not be negative"))
	}
	var err error
	if f.in, err = fromCheckout(ctx, env, f.in, f.repo); err != nil {
		return err
	}
	f.in.Access = state.Writing
	opened, err := f.in.OpenChecked(ctx, env, f.validate)
	if err != nil {
		return baseTrouble(ctx, env, f.in, err)
	}
	p, err := opened.Plan(ctx)
	if err != nil {
		return err
	}
	if f.planOut != "" {
		if err := cli.WriteFile(f.planOut, func(w io.Writer) error { return plan.Write(w, p) }); err != nil {
			return err
		}
	}
	results, trouble := runner.Run(ctx, runner.Input{
		Plan: p, Base: opened.Base, Head: opened.Head, Settings: opened.Settings, Natives: change.Natives(),
		Folder: opened.Settings.Folder(), State: opened.State, Getenv: env.Getenv, Environ: env.Environ,
	}, f.options(env))
	if results == nil {
		return trouble
	}
	if f.out != "" {
		trouble = errors.Join(trouble, writeResults(env.Stdout, f.out, results))
	}
	if f.html != "" {
		trouble = errors.Join(trouble, writeHTML(f.html, p, results, opened.Base, opened.Head))
	}
	open := source.In(env)
	open.Settings = opened.Settings
	if f.in.NoCache {
		open.Cache = ""
	}
	at := files{open: open, head: f.in.Head, base: opened.Base, with: opened.Head, plan: p, results: results}
	if !source.IsCheckout(at.head) {
		at.repo = f.repo
	}
	trouble = errors.Join(trouble, f.ci.write(context.WithoutCancel(ctx), env, at)) // also after ctrl-C
	return errors.Join(trouble, writeReport(env, f.form.String(), p, results))
}
