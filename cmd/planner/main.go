// Command planner answers which integrations must be dry-run for a proposed
// change, on which shards, and why. It decides and never acts.
package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/internal/cli"
)

func main() { os.Exit(cli.Main("planner", run)) }

func run(ctx context.Context, env cli.Env) error {
	root := &cobra.Command{
		Use:   "planner",
		Short: "Decide which integrations a change must be dry-run with, and why",
		Long: `planner compares two bundles of a qontract repository, base (before the
change) and head (with it), and decides for every integration whether it must be
dry-run, on which shards, and why. It decides and never acts: give its plan to
runner.

Exit codes: 0 all good, 1 a check failed, 2 wrong usage or invalid input,
3 the work could not be done.`,
	}
	root.AddCommand(
		planCommand(env), explainCommand(env), verifyCommand(env), diffCommand(env), queryCommand(env),
		bundleCommand(env), validateCommand(env), checkCommand(env), serveCommand(env),
		recordCommand(env), suggestCommand(env), insightsCommand(env), confirmCommand(env), rememberCommand(env), keygenCommand(env), pipelineCommand(env),
		schemaCommand(env), apiCommand(env), doctorCommand(env), selftestCommand(env),
	)
	return cli.Execute(ctx, env, root)
}
