// Command runner runs the dry-runs of a plan and reports their results. What runs is
// decided by the command planner.
package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
)

func main() { os.Exit(cli.Main("runner", run)) }

func run(ctx context.Context, env cli.Env) (err error) {
	services, end := openServices()
	defer func() {
		if wrong := end(); err == nil {
			err = wrong
		}
	}()
	return runWith(ctx, env, change.NativesWith(services))
}

// runWith is run with these native integrations.
func runWith(ctx context.Context, env cli.Env, natives []integration.Native) error {
	root := &cobra.Command{
		Use:   "runner",
		Short: "Run the dry-runs of a plan and report their results",
		Long: `runner runs the tasks of a plan that planner made, in parallel, and reports their
results. Each task gets a server of its own on the loopback interface, which answers
queries over both bundles. A task that is not in the plan does not run. Only reconcile and take-over
run without a plan.

Exit codes: 0 all good, 1 a check failed, 2 wrong usage or invalid input,
3 the work could not be done.`,
	}
	root.AddCommand(runCommand(env, natives), precheckCommand(env, natives), reportCommand(env, natives), commentCommand(env), collectCommand(env), submitCommand(env), reconcileCommand(env, natives), takeOverCommand(env, natives), statusCommand(env, natives), webhookCommand(env), importCommand(env), initCommand(env))
	return cli.Execute(ctx, env, root)
}
