package reconciler

import (
	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
)

func statusCommand(env cli.Env, natives []integration.Native) *cobra.Command {
	f := runFlags{form: cli.OneOf("text", "json")}
	f.Status = true
	cmd := &cobra.Command{
		Use:   "status NAME --bundle REF [flags]",
		Short: "Tell how the things of a native integration stand",
		Long: `status reads each thing of a native integration, with what belongs to its status, and
tells its conditions: Ready (it works), Synced (it is as the data say), Drifted (somebody
changed it), Blocked (it cannot be made as the data say). Of an integration that decides about
units of work, such as saas-promotions, it tells each unit and what it waits for. With --state it tells which data
were applied last, and since when a condition is as it is. It writes nothing. Of what could
not be read the conditions are Unknown.

Exit codes: 0 it is told; 1 the data have mistakes, or some things could not be read, and the
rest is told; 2 wrong usage; 3 nothing could be read.`,
		Example: `  reconciler status generic --bundle git:main --state state
  reconciler status generic --bundle git:main --state state --format json | jq '.things[] | select(any(.conditions[]; .type == "Synced" and .status != "True"))'`,
		Args: cli.Takes("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(env.Getenv); err != nil {
				return cli.Usage(err)
			}
			return f.run(cmd.Context(), env, natives, args[0])
		},
	}
	f.register(cmd.Flags())
	for _, name := range []string{"dry-run", "no-dry-run", "journal"} {
		_ = cmd.Flags().MarkHidden(name) // it is there
	}
	return cmd
}
