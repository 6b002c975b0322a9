package reconciler

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
)

// Main runs the program with the arguments of the process and these natives, and returns its exit
// code. At the end it closes the natives that keep files.
func Main(natives ...integration.Native) int {
	return cli.Main("reconciler", func(ctx context.Context, env cli.Env) (err error) {
		defer func() { err = errors.Join(err, integration.Close(natives)) }() // also if it panics
		return Run(ctx, env, natives...)
	})
}

// Run runs the program in an environment.
func Run(ctx context.Context, env cli.Env, natives ...integration.Native) error {
	root := &cobra.Command{
		Use:   "reconciler",
		Short: "Make the world as the data say",
		Long: `reconciler makes true what is merged: it runs native integrations outside of a plan, once
or again and again, and tells how their things stand. It writes only where --no-dry-run
says so, and never in the pipeline of a merge request.

Exit codes: 0 all good, 1 a check failed, 2 wrong usage or invalid input,
3 the work could not be done.`,
	}
	root.AddCommand(runCommand(env, natives), takeOverCommand(env, natives), statusCommand(env, natives),
		saasCommand(env, natives), webhookCommand(env), importCommand(env), apiCommand(env))
	var names []string
	for _, n := range natives {
		names = append(names, n.Name())
	}
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "run", "status", "take-over":
			cli.CompleteNames(cmd, names)
		}
	}
	return cli.Execute(ctx, env, root)
}
