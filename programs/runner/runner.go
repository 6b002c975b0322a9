package runner

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/programs/moved"
)

// Main runs the program with the arguments of the process and these natives, and returns its exit
// code. At the end it closes the natives that keep files.
func Main[N integration.DryRunner](natives ...N) int {
	list := integration.DryRunners(natives)
	return cli.Main("runner", func(ctx context.Context, env cli.Env) (err error) {
		defer func() { err = errors.Join(err, integration.Close(natives)) }() // also if it panics
		return Run(ctx, env, list...)
	})
}

// Run runs the program in an environment.
func Run(ctx context.Context, env cli.Env, natives ...integration.DryRunner) error {
	root := &cobra.Command{
		Use:   "runner",
		Short: "Run the dry-runs of a plan and report their results",
		Long: `runner runs the tasks of a plan that planner made, in parallel, and reports their
results. Each task gets a server of its own on the loopback interface, which answers
queries over both bundles. A task that is not in the plan does not run. It changes
nothing: that is done by reconciler.

Exit codes: 0 all good, 1 a check failed, 2 wrong usage or invalid input,
3 the work could not be done.`,
	}
	root.AddCommand(runCommand(env, natives), deltaCommand(env, natives), precheckCommand(env, natives),
		reportCommand(env, natives), commentCommand(env), ownersCommand(env), submitCommand(env), initCommand(env),
		cli.Renamed(env, "runner", collectCommand(env), "report --collect DIR, or comment --collect DIR,"))
	for _, name := range []string{"doctor", "schema"} {
		root.AddCommand(moved.Neighbour(env, "runner", "planner", name))
	}
	root.AddCommand(moved.Command(env, moved.Spelling{Program: "runner", Was: "reconcile", Is: "run"}))
	for _, name := range []string{"take-over", "status", "webhook", "import"} {
		root.AddCommand(moved.Command(env, moved.Spelling{Program: "runner", Was: name, Is: name}))
	}
	return cli.Execute(ctx, env, root)
}
