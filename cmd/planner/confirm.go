package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/trace"
)

func confirmCommand(env cli.Env) *cobra.Command {
	var folder, config string
	cmd := &cobra.Command{
		Use:   "confirm --state DIR INTEGRATION...",
		Short: "Let the promise of trace: static count again",
		Long: `confirm says that an integration does ask always the same, after a run in which it
asked something else. Until then it runs in full. Confirm when its program was
changed on purpose; otherwise take "trace: static" out of the settings.`,
		Example: `  planner confirm --state .prcheck terraform-users`,
		Args:    cli.Takes("INTEGRATION..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			remembered, err := requireState(ctx, env, folder, config)
			if err != nil {
				return err
			}
			store := trace.NewStore(remembered)
			for _, name := range args {
				if store.Broken(ctx, name) == "" {
					return cli.Usage(fmt.Errorf("%q broke no promise that is remembered here", name))
				}
			}
			for _, name := range args {
				if err := store.Confirm(ctx, name, time.Now()); err != nil {
					return err
				}
				if _, err := fmt.Fprintf(env.Stdout, "%s: confirmed\n", name); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&folder, "state", "", "folder, or s3://BUCKET/PREFIX, that remembers what tasks asked when they passed (required)")
	cmd.Flags().StringVar(&config, "config", "", "settings that say which keys the state is signed with (default prcheck.yaml if it exists)")
	return cmd
}
