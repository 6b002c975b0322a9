package planner

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/internal/cli"
)

func keygenCommand(env cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "keygen FILE",
		Short: "Make a key pair with which a state is signed",
		Long: `keygen writes a new private key to FILE, which must not exist yet, and prints the
public key as the settings have it. Give the private key as a protected file variable
with the name ` + change.KeyVariable + ` to the jobs that may sign, and commit the
public key. See docs/state.md.`,
		Example: `  planner keygen ~/prcheck-state.key`,
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
