package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/cmd/internal/source"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

func planCommand(env cli.Env) *cobra.Command {
	var base, head, config, out string
	form := format{allowed: []string{"text", "json", "markdown"}, value: "text"}
	cmd := &cobra.Command{
		Use:   "plan --base FILE --head FILE [flags]",
		Short: "Decide about every integration",
		Long: `plan decides about every integration of either bundle and lists the tasks that
follow. Without --out the plan goes to stdout in the chosen format. With --out
the file gets the plan as JSON, which runner needs, and stdout gets it too when a
format is asked for.`,
		Example: `  planner plan --base base.json --head head.json --config prcheck.yaml
  planner plan --base base.json --head head.json --out plan.json
  planner plan --base base.json --head head.json --format json | jq '.integrations[] | select(.decision != "skip")'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			change, err := source.Open(base, head, config)
			if err != nil {
				return err
			}
			p, err := change.Plan(cmd.Context())
			if err != nil {
				return err
			}
			if out != "" {
				if err := cli.WriteFile(out, func(w io.Writer) error { return plan.Write(w, p) }); err != nil {
					return err
				}
			}
			if out != "" && !cmd.Flags().Changed("format") {
				return nil
			}
			return writePlan(env, form.value, p)
		},
	}
	cmd.Flags().StringVar(&base, "base", "", "bundle before the change (required)")
	cmd.Flags().StringVar(&head, "head", "", "bundle with the change (required)")
	cmd.Flags().StringVar(&config, "config", "", "settings file (default prcheck.yaml if it exists)")
	cmd.Flags().StringVar(&out, "out", "", "file for the plan as JSON")
	cmd.Flags().Var(&form, "format", "how to write it to stdout: text, json or markdown")
	return cmd
}

func writePlan(env cli.Env, form string, p *plan.Plan) error {
	switch form {
	case "json":
		return plan.Write(env.Stdout, p)
	case "markdown":
		return report.PlanMarkdown(env.Stdout, p)
	}
	return report.PlanText(env.Stdout, p, report.Style{Color: env.Color(env.Stdout)})
}

func verifyCommand(env cli.Env) *cobra.Command {
	var name, base, head, config string
	cmd := &cobra.Command{
		Use:   "verify --plan FILE --base FILE --head FILE [--config FILE]",
		Short: "Replay every skip of a plan from the two bundles",
		Long: `verify proves every skip of a plan once more, the slow way: desired states are
evaluated as a whole on both bundles and compared. Exit code 1 and a list when
something is skipped that cannot be proven.`,
		Example: `  planner verify --plan plan.json --base base.json --head head.json --config prcheck.yaml`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := source.ReadPlan(name)
			if err != nil {
				return err
			}
			change, err := source.Open(base, head, config)
			if err != nil {
				return err
			}
			gaps, err := change.Unproven(cmd.Context(), p)
			if err != nil {
				return err
			}
			for _, g := range gaps {
				if _, err := fmt.Fprintf(env.Stdout, "%s: %s\n", report.Printable(g.Integration), report.Printable(g.Why)); err != nil {
					return err
				}
			}
			if len(gaps) > 0 {
				return cli.ErrFailed
			}
			_, err = fmt.Fprintf(env.Stdout, "all %d decisions hold\n", len(p.Integrations))
			return err
		},
	}
	cmd.Flags().StringVar(&name, "plan", "", "plan to verify (required)")
	cmd.Flags().StringVar(&base, "base", "", "bundle before the change (required)")
	cmd.Flags().StringVar(&head, "head", "", "bundle with the change (required)")
	cmd.Flags().StringVar(&config, "config", "", "settings the plan was made with (default prcheck.yaml if it exists)")
	return cmd
}
