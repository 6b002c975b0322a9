package planner

import (
	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/settings"
)

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
