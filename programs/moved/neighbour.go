package moved

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/internal/cli"
)

// Neighbour returns a command that another program of prcheck has, so that it is found from both. It executes that
// program, which lies beside this one, with the same arguments.
func Neighbour(env cli.Env, own, other, name string) *cobra.Command {
	return &cobra.Command{
		Use:                name,
		Short:              "The command " + name + " of " + other,
		Example:            fmt.Sprintf("  %s %s --help", own, name),
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			program, err := beside(other)
			if err != nil {
				return cli.Usage(fmt.Errorf("%s is a command of the program %s, which does not lie in the folder of %s: install it "+
					"there, or call %s %s: %w", name, other, own, other, name, err))
			}
			var environ []string
			if env.Environ != nil {
				environ = env.Environ()
			}
			return replace(program, append([]string{other, name}, args...), environ)
		},
	}
}
