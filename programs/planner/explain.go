package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/report/traces"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state/files"
	"github.com/app-sre/prcheck/trace"
)

func explainCommand(env cli.Env, natives []integration.DryRunner) *cobra.Command {
	var name string
	in := change.Inputs{Natives: natives}
	form := cli.OneOf("text", "json")
	cmd := &cobra.Command{
		Use:   "explain --plan FILE [--base REF --head REF] INTEGRATION",
		Short: "Tell why an integration runs, runs sharded or is skipped",
		Long: `explain tells what was decided about one integration of a plan: the rung of the
ladder that decided, the reason, the evidence and the tasks. With --state it also
tells how old the traces are that were looked at, what the tasks asked, and which
files they read, listed, or looked for in vain.

With --base and --head, the bundles of the plan, it ends with the smallest known
change that would have decided otherwise. Each one was tried: the plan was made
again with it. Give the --config and --state that the plan was made with.`,
		Example: `  planner explain --plan plan.json terraform-users
  planner explain --plan plan.json --state .prcheck terraform-users
  planner explain --plan plan.json --base base.json --head head.json --config prcheck.yaml terraform-users`,
		Args: cli.Takes("INTEGRATION"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			return completeNames(name, args, typed), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := source.ReadPlan(name)
			if err != nil {
				return err
			}
			flips, err := findFlips(cmd.Context(), env, in, p, args[0])
			if err != nil {
				return err
			}
			write := report.ExplainText
			if form.String() == "json" {
				write = report.ExplainJSON
			}
			if err := write(env.Stdout, p, args[0], flips); err != nil {
				if _, known := p.Decision(args[0]); known {
					return err
				}
				return cli.Usage(err)
			}
			if form.String() == "json" {
				return nil
			}
			return writeTraces(cmd.Context(), env, p, args[0], in.State, time.Now())
		},
	}
	cmd.Flags().StringVar(&name, "plan", "", "plan that planner wrote (required)")
	cmd.Flags().Var(&form, "format", "how to write it: text or json")
	addInputFlags(cmd, &in)
	cmd.Flags().Lookup("base").Usage = "bundle before the change, to find what would have decided otherwise: " + references
	return cmd
}

// findFlips finds what would have decided otherwise about an integration, nil if no bundles
// are named or the plan does not have the integration.
func findFlips(ctx context.Context, env cli.Env, in change.Inputs, p *plan.Plan, name string) (*plan.Flips, error) {
	if _, known := p.Decision(name); !known || in.Base == "" && in.Head == "" {
		return nil, nil
	}
	in, err := in.Complete(ctx, env)
	if err != nil {
		return nil, err
	}
	opened, err := in.Open(ctx, env)
	if err != nil {
		return nil, err
	}
	flips, err := opened.Flips(ctx, p, name)
	return &flips, err
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
		read, why := files.List(nil), ""
		if id := all[i].Files; id.IsRecorded() {
			if read, err = files.NewStore(remembered).Load(ctx, name, id); err != nil {
				why = err.Error()
			}
		}
		if err := traces.WriteFiles(env.Stdout, all[i].Files, read, why); err != nil {
			return err
		}
	}
	return nil
}
