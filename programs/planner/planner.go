package planner

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/programs/moved"
)

// Main runs the program with the arguments of the process and these natives, and returns its exit
// code.
func Main[N integration.DryRunner](natives ...N) int {
	list := integration.DryRunners(natives)
	return cli.Main("planner", func(ctx context.Context, env cli.Env) error { return Run(ctx, env, list...) })
}

// Run runs the program in an environment.
func Run(ctx context.Context, env cli.Env, natives ...integration.DryRunner) error {
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
		planCommand(env, natives), explainCommand(env, natives), verifyCommand(env, natives), diffCommand(env),
		queryCommand(env),
		bundleCommand(env), validateCommand(env), checkCommand(env), serveCommand(env),
		recordCommand(env, natives), suggestCommand(env), insightsCommand(env), confirmCommand(env),
		rememberCommand(env, natives), keygenCommand(env), pipelineCommand(env),
		schemaCommand(env), doctorCommand(env, natives), selftestCommand(env, natives),
		moved.Command(env, moved.Spelling{Program: "planner", Was: "api", Is: "api"}),
	)
	return cli.Execute(ctx, env, root)
}
