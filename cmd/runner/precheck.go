package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/cmd/internal/source"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
)

type precheckFlags struct {
	base, head, config, logs, planOut, out, form string
	jobs                                         int
}

func precheckCommand(env cli.Env) *cobra.Command {
	var f precheckFlags
	cmd := &cobra.Command{
		Use:   "precheck --base FILE --head FILE [flags]",
		Short: "Plan, run and report in one go",
		Long: `precheck decides which integrations the change must be dry-run with, runs them and
reports what they said.`,
		Example: `  runner precheck --base base.json --head head.json --config prcheck.yaml
  runner precheck --base base.json --head head.json --format markdown > report.md`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return precheck(cmd.Context(), env, f) },
	}
	cmd.Flags().StringVar(&f.base, "base", "", "bundle before the change (required)")
	cmd.Flags().StringVar(&f.head, "head", "", "bundle with the change (required)")
	cmd.Flags().StringVar(&f.config, "config", "", "settings file (default prcheck.yaml if it exists)")
	cmd.Flags().StringVar(&f.logs, "logs", "logs", "folder for the complete logs")
	cmd.Flags().StringVar(&f.planOut, "plan", "", "file to keep the plan in")
	cmd.Flags().StringVar(&f.out, "out", "", "file to keep the results in")
	cmd.Flags().StringVar(&f.form, "format", "text", "how to write the report: text, json or markdown")
	cmd.Flags().IntVar(&f.jobs, "jobs", 0, "how many tasks run at once (default one per processor)")
	return cmd
}

func precheck(ctx context.Context, env cli.Env, f precheckFlags) error {
	if err := checkFormat(f.form); err != nil {
		return err
	}
	if f.jobs < 0 {
		return cli.Usage(errors.New("--jobs must not be negative"))
	}
	change, err := source.Open(f.base, f.head, f.config)
	if err != nil {
		return err
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
	j := job{plan: p, base: change.Base, head: change.Head, settings: change.Settings, jobs: f.jobs, logs: f.logs}
	results, trouble := j.execute(ctx, env)
	if results == nil {
		return trouble
	}
	if f.out != "" {
		trouble = errors.Join(trouble, writeResults(env.Stdout, f.out, results))
	}
	if err := writeReport(env, f.form, p, results); trouble == nil {
		return err
	}
	return trouble
}
