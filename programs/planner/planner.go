package planner

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/programs/moved"
	"github.com/app-sre/prcheck/settings"
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
		bundleCommand(env), validateCommand(env), checkCommand(env, natives), serveCommand(env),
		recordCommand(env, natives), suggestCommand(env), insightsCommand(env), boardCommand(env), pipelineCommand(env),
		schemaCommand(env), doctorCommand(env, natives), ownersCommand(env), rebaseCommand(env, natives),
		upkeepCommand(env, natives), moved.Neighbour(env, "planner", "runner", "init"),
		moved.Command(env, moved.Spelling{Program: "planner", Was: "api", Is: "api"}),
	)
	for _, cmd := range upkeepCommands(env, natives) {
		root.AddCommand(cli.Renamed(env, "planner", cmd, "upkeep "+cmd.Name()))
	}
	return cli.Execute(ctx, env, root)
}

// upkeepCommand groups what is needed once, or seldom.
func upkeepCommand(env cli.Env, natives []integration.DryRunner) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "upkeep",
		Short: "Look after an installation: keys, promises, what is remembered of bases, a self-test",
		Long: `upkeep has what those need who look after an installation, once or seldom: a key pair with
which a state is signed, promises that count again, what tasks see of a base, and a test of
the planner on your own bundles.`,
	}
	cmd.AddCommand(upkeepCommands(env, natives)...)
	return cmd
}

// upkeepCommands returns the commands of upkeep.
func upkeepCommands(env cli.Env, natives []integration.DryRunner) []*cobra.Command {
	return []*cobra.Command{confirmCommand(env), keygenCommand(env), rememberCommand(env, natives),
		selftestCommand(env, natives)}
}

func keygenCommand(env cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "keygen FILE",
		Short: "Make a key pair with which a state is signed",
		Long: `keygen writes a new private key to FILE, which must not exist yet, and prints the
public key as the settings have it. Give the private key as a protected file variable
with the name ` + change.KeyVariable + ` to the jobs that may sign, and commit the
public key. See docs/state.md.`,
		Example: `  planner upkeep keygen ~/prcheck-state.key`,
		Args:    cli.Takes("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			public, err := change.MakeKey(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(env.Stdout, "state:\n  keys: [%q]\n", public)
			return err
		},
	}
}

func schemaCommand(env cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of a file that people write",
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "settings",
		Short: "Print the JSON Schema of prcheck.yaml",
		Long: `settings prints the JSON Schema of prcheck.yaml. Editors use it to complete keys, to
explain them, and to find mistakes. Write it beside the settings, and begin these with
the line

  # yaml-language-server: $schema=prcheck.schema.json

The schema accepts everything that prcheck accepts, and some more: for instance, it does
not know that a pattern must be a regular expression.`,
		Example: `  planner schema settings > prcheck.schema.json`,
		Args:    cli.Takes(),
		RunE: func(*cobra.Command, []string) error {
			raw, err := settings.Schema()
			if err != nil {
				return err
			}
			_, err = env.Stdout.Write(raw)
			return err
		},
	})
	return cmd
}
