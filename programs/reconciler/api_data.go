package reconciler

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/natives/generic/cloud"
)

func apiDataCommand(env cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "data DIR",
		Short: "Write the schemas of APIs and resources for a repository",
		Long: `data writes what a repository needs to have APIs and resources among its data
(/cloud/api-1.yml, /cloud/resource-1.yml): their JSON schemas below DIR/schemas, and the
GraphQL types that are to be added to those of the repository, in DIR/graphql-schemas. No
file that exists is written over.`,
		Example: `  reconciler api data .`,
		Args:    cli.Takes("DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.CopyFS(args[0], cloud.Files()); err != nil {
				return cli.Invalid(fmt.Errorf("writing the schemas: %w", err))
			}
			return fs.WalkDir(cloud.Files(), ".", func(name string, e fs.DirEntry, err error) error {
				if err == nil && !e.IsDir() {
					_, err = fmt.Fprintln(env.Stdout, name)
				}
				return err
			})
		},
	}
}
