package runner

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/setup"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/wrapper"
)

func initCommand(env cli.Env) *cobra.Command {
	var repo string
	cmd := &cobra.Command{
		Use:   "init [flags]",
		Short: "Write the settings and the CI file of a repository",
		Long: `init looks at a repository: at its datafiles, JSON schemas, GraphQL types and
integration definitions, and at whether its integrations are those of
qontract-reconcile. It writes the settings, prcheck.yaml, the CI file,
.gitlab-ci.yml, with comments, and a .gitignore with what prcheck writes. It never overwrites a file. Then it says what a person
must still do. A second run only says that.`,
		Example: `  runner init
  runner init --repo ../app-interface`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error { return initialize(cmd.Context(), env, repo) },
	}
	cmd.Flags().StringVar(&repo, "repo", ".", "folder of the checkout")
	return cmd
}

func initialize(ctx context.Context, env cli.Env, repo string) error {
	options := setup.Options{Open: source.In(env), FindProgram: wrapper.FindProgram}
	before, err := setup.Look(ctx, repo, options)
	if err != nil {
		return cli.Invalid(err)
	}
	files, err := before.CreateAll()
	if err != nil {
		return err
	}
	after, err := setup.Look(ctx, repo, options) // with the files
	if err != nil {
		return cli.Invalid(err)
	}
	if err := after.Write(env.Stdout, files); err != nil {
		return err
	}
	if after.Kind == setup.Unknown {
		return cli.Invalid(errors.New("nothing is written, since the datafiles cannot be read: do what is missing, and run " +
			"init again"))
	}
	return nil
}
