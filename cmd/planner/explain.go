package main

import (
	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/cmd/internal/source"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/report"
)

func explainCommand(env cli.Env) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "explain --plan FILE INTEGRATION",
		Short: "Tell why an integration runs, runs sharded or is skipped",
		Long: `explain tells what was decided about one integration of a plan: the rung of the
ladder that decided, the reason, the evidence and the tasks.`,
		Example: `  planner explain --plan plan.json terraform-users`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := source.ReadPlan(name)
			if err != nil {
				return err
			}
			if err := report.ExplainText(env.Stdout, p, args[0]); err != nil {
				if _, known := p.Decision(args[0]); known {
					return err
				}
				return cli.Usage(err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&name, "plan", "", "plan that planner wrote (required)")
	return cmd
}
