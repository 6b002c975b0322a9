package reconciler

import (
	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
)

func takeOverCommand(env cli.Env, natives []integration.Native) *cobra.Command {
	f := runFlags{form: cli.OneOf("text", "json")}
	f.Approve.TakeOver = true
	cmd := &cobra.Command{
		Use:   "take-over NAME --bundle REF [flags]",
		Short: "Take what another version of an integration made",
		Long: `take-over takes the things that another version of a native integration made, such as
qontract-reconcile: those that the data name become ours, as the data want them. Nothing
else is done: nothing is created and nothing is deleted. Things that no entry names, and
those of another instance that still runs, are told and stay as they are. Things of the
integration that take_over_from of the settings names get our mark and no other change.

It is a dry run unless --no-dry-run is given, whatever the environment says. Stop the
other version before, so that the two do not change the same things again and again.

Exit codes: 0 done; 1 something failed or was refused, or the data have mistakes, and the
rest is done; 2 wrong usage; 3 nothing could be done.`,
		Example: `  reconciler take-over saas-deploy --bundle git:main --state state --shard shop/stage
  reconciler take-over integrations-manager --bundle git:main --state state
  reconciler take-over integrations-manager --bundle git:main --state state --shard prod/apps --no-dry-run`,
		Args: cli.Takes("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.fillDryRun(cmd.Flags().Changed, func(string) string { return "" }); err != nil {
				return cli.Usage(err)
			}
			if err := f.check(env.Getenv); err != nil {
				return cli.Usage(err)
			}
			return f.run(cmd.Context(), env, natives, args[0])
		},
	}
	f.register(cmd.Flags())
	return cmd
}
