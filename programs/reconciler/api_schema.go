package reconciler

import (
	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/natives/openapi/catalog"
)

func apiSchemaCommand(env cli.Env) *cobra.Command {
	var f apiFlags
	cmd := &cobra.Command{
		Use:   "schema --specs DIR TYPE",
		Short: "Write the JSON Schema of datafiles with a resource type, for editors",
		Long: `schema writes the JSON Schema of datafiles with resources of one type. With it, editors
complete the names in body, and mark those that no request takes. Read-only properties
are left out; what is required or create-only is told in the descriptions.`,
		Example: `  reconciler api schema --specs specs Microsoft.Cache/Redis > redis.schema.json
  # in a datafile, for the language server of YAML:
  # yaml-language-server: $schema=redis.schema.json`,
		Args:              cli.Takes("TYPE"),
		ValidArgsFunction: f.complete(env),
		RunE: func(_ *cobra.Command, args []string) error {
			index, overrides, err := f.open(env)
			if err != nil {
				return err
			}
			types, err := index.Find(args[0])
			if err != nil {
				return cli.Usage(err)
			}
			schema, err := catalog.NewSchema(types[0], overrides...)
			if err != nil {
				return cli.Invalid(err)
			}
			return catalog.JSON(env.Stdout, schema)
		},
	}
	f.add(cmd)
	f.addOverrides(cmd)
	return cmd
}
