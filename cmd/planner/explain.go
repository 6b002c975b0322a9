package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/report/traces"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/trace"
)

func explainCommand(env cli.Env) *cobra.Command {
	var name, folder string
	cmd := &cobra.Command{
		Use:   "explain --plan FILE INTEGRATION",
		Short: "Tell why an integration runs, runs sharded or is skipped",
		Long: `explain tells what was decided about one integration of a plan: the rung of the
ladder that decided, the reason, the evidence and the tasks. With --state it also
tells how old the traces are that were looked at, and what was asked in them.`,
		Example: `  planner explain --plan plan.json terraform-users
  planner explain --plan plan.json --state .prcheck terraform-users`,
		Args: cli.Takes("INTEGRATION"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			return completeNames(name, args, typed), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
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
			return writeTraces(cmd.Context(), env, p, args[0], folder, time.Now())
		},
	}
	cmd.Flags().StringVar(&name, "plan", "", "plan that planner wrote (required)")
	cmd.Flags().StringVar(&folder, "state", "", "folder, or s3://BUCKET/PREFIX, that the plan was made with (default: traces are only named)")
	return cmd
}

// completeNames returns the integrations of a plan whose names begin with what was typed,
// each with its decision. Without a plan that can be read it returns nil.
func completeNames(file string, args []string, typed string) []string {
	if file == "" || len(args) > 0 {
		return nil
	}
	p, err := source.ReadPlan(file)
	if err != nil {
		return nil
	}
	var out []string
	for _, d := range p.Integrations {
		if name := report.Printable(d.Name); name == d.Name && strings.HasPrefix(name, typed) {
			out = append(out, fmt.Sprintf("%s\t%s, decided at %s", name, d.Decision, d.Rung))
		}
	}
	return out
}

// writeTraces writes the traces that prove the decision about an integration.
func writeTraces(ctx context.Context, env cli.Env, p *plan.Plan, name, folder string, now time.Time) error {
	d, _ := p.Decision(name)
	remembered, err := change.ReadState(ctx, folder)
	if err != nil || remembered == nil || len(d.Evidence.Traces) == 0 {
		return err
	}
	all, _ := trace.NewStore(remembered).All(ctx, name)
	for _, e := range d.Evidence.Traces {
		i := slices.IndexFunc(all, func(t *trace.Trace) bool { return t.Digest == e.Digest })
		if i < 0 {
			continue
		}
		if err := traces.Write(env.Stdout, all[i], now); err != nil {
			return err
		}
	}
	return nil
}
