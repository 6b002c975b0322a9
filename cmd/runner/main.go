// Command runner runs the dry-runs of a plan and reports what they said. It
// acts and never decides.
package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/internal/cli"
)

func main() { os.Exit(cli.Main("runner", run)) }

func run(ctx context.Context, env cli.Env) error {
	root := &cobra.Command{
		Use:   "runner",
		Short: "Run the dry-runs of a plan and report what they said",
		Long: `runner runs what a plan of planner lists, in parallel, each task against its own
loopback server for both bundles, and reports what the tasks said. It acts and
never decides: what is not in the plan does not run.

Exit codes: 0 all good, 1 a check failed, 2 wrong usage or invalid input,
3 the work could not be done.`,
	}
	root.AddCommand(runCommand(env), precheckCommand(env), reportCommand(env), commentCommand(env), collectCommand(env), submitCommand(env))
	return cli.Execute(ctx, env, root)
}
