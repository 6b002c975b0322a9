package planner

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/audits"
	"github.com/app-sre/prcheck/trace"
)

func confirmCommand(env cli.Env) *cobra.Command {
	var folder, config string
	cmd := &cobra.Command{
		Use:   "confirm --state DIR INTEGRATION...",
		Short: "Let a broken promise or a distrusted rung count again",
		Long: `confirm says that the cause is gone for which something no longer counts about an
integration:

  - It promised to ask always the same (trace: static), and asked something else.
    Confirm when its program was changed on purpose; otherwise take "trace: static"
    out of the settings.
  - An audit found a wrong skip (audit.on_miss: distrust). Confirm when the remedy
    that the audit named, or another one, was merged.

Until then it runs in full.`,
		Example: `  planner upkeep confirm --state .prcheck terraform-users`,
		Args:    cli.Takes("INTEGRATION..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			remembered, err := requireState(ctx, env, folder, config)
			if err != nil {
				return err
			}
			store := trace.NewStore(remembered)
			found, err := audits.NewStore(remembered).Snapshot(ctx)
			if err != nil {
				return err
			}
			for _, name := range args {
				if store.Broken(ctx, name) == "" && len(found.Distrusted(name)) == 0 {
					return cli.Usage(fmt.Errorf("%q broke no promise that is remembered here, and no audit found a wrong skip of it",
						name))
				}
			}
			for _, name := range args {
				if err := confirm(ctx, remembered, name); err != nil {
					return err
				}
				if _, err := fmt.Fprintf(env.Stdout, "%s: confirmed\n", name); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&folder, "state", "", "folder, or s3://BUCKET/PREFIX, that remembers what tasks asked when "+
		"they passed (required)")
	cmd.Flags().StringVar(&config, "config", "", "settings that say which keys the state is signed with (default "+
		"prcheck.yaml if it exists)")
	return cmd
}

// confirm lets everything about an integration count again.
func confirm(ctx context.Context, in state.Store, name string) error {
	if promises := trace.NewStore(in); promises.Broken(ctx, name) != "" {
		if err := promises.Confirm(ctx, name, time.Now()); err != nil {
			return err
		}
	}
	_, err := audits.NewStore(in).Confirm(ctx, name, time.Now())
	return err
}
