package planner

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/state"
)

func rememberCommand(env cli.Env, natives []integration.DryRunner) *cobra.Command {
	in := change.Inputs{Natives: natives}
	cmd := &cobra.Command{
		Use:   "remember --base REF --state REF [--config FILE]",
		Short: "Work out once what tasks see of a base",
		Long: `remember works out what the tasks of integrations with declared queries see of a base,
and writes it to the state. Plans with this state then need not work it out: those of
all merge requests on this base, also in jobs that begin with an empty cache. Run it on
the main branch after each merge. It changes no plan.`,
		Example: `  planner upkeep remember --base git:HEAD --state s3://bucket/prcheck
  planner upkeep remember --base base.json --state .prcheck --config prcheck.yaml`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			if in.State == "" {
				return errNoState
			}
			in.Head, in.Access = in.Base, state.Writing
			opened, err := in.Open(ctx, env)
			if err != nil {
				return err
			}
			known, added, err := opened.RememberBase(ctx)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(env.Stdout, "what tasks see of base is known of %d integrations; %d parts of it are new in "+
				"the state\n", known, added)
			return err
		},
	}
	cmd.Flags().StringVar(&in.Base, "base", "", "the base: "+references+" (required)")
	cmd.Flags().StringVar(&in.State, "state", "", "folder, or s3://BUCKET/PREFIX, that remembers it (required)")
	cmd.Flags().StringVar(&in.Config, "config", "",
		"settings: a file, base:PATH or git:REV[@DIR]:PATH (default prcheck.yaml if it exists)")
	cmd.Flags().BoolVar(&in.NoCache, "no-cache", false, "do not cache the bundles of checkouts")
	return cmd
}
