package planner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/report/traces"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/trace"
)

func suggestCommand(env cli.Env) *cobra.Command {
	var ref, folder, config string
	cmd := &cobra.Command{
		Use:   "suggest --bundle REF --state DIR INTEGRATION",
		Short: "Write down a definition that allows only what is read",
		Long: `suggest prints the definition of an integration as YAML, allowed to read only the
schemas that it read in the runs that are remembered, and those that every
definition must allow. Comments say what was left out, and which fields were
read. It is a suggestion: what no remembered run happened to need is not in it.`,
		Example: `  planner suggest --bundle head.json --state .prcheck terraform-users`,
		Args:    cli.Takes("INTEGRATION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := definition(cmd.Context(), env, ref, config, args[0])
			if err != nil {
				return err
			}
			remembered, err := change.ReadState(cmd.Context(), folder)
			if remembered == nil && err == nil {
				err = errNoState
			}
			if err != nil {
				return err
			}
			return suggest(cmd.Context(), env, d, trace.NewStore(remembered))
		},
	}
	cmd.Flags().StringVar(&ref, "bundle", "", "bundle that holds the definition (required)")
	cmd.Flags().StringVar(&folder, "state", "", "folder, or s3://BUCKET/PREFIX, that remembers what tasks asked when "+
		"they passed (required)")
	cmd.Flags().StringVar(&config, "config", "", "settings, which say how definitions are found (default prcheck.yaml "+
		"if it exists)")
	return cmd
}

// errNoState says that the user must name the place of the state.
var errNoState = cli.Usage(errors.New("--state is required: the place that runner was given to remember in"))

// requireState opens the state to write to it, by the settings in a file; the user must name
// its place.
func requireState(ctx context.Context, env cli.Env, place, config string) (state.Store, error) {
	if place == "" {
		return nil, errNoState
	}
	settings, err := source.OpenSettings(ctx, config, "")
	if err != nil {
		return nil, err
	}
	return change.OpenState(ctx, env, change.StateFlag{Place: place, Access: state.Writing, Settings: settings})
}

// definition returns the definition of an integration in a bundle. The settings say which
// schema definitions have.
func definition(ctx context.Context, env cli.Env, ref, config, name string) (integration.Definition, error) {
	if ref == "" {
		return integration.Definition{}, cli.Usage(errors.New("--bundle is required: the bundle that holds the definition"))
	}
	b, err := source.In(env).Bundle(ctx, ref, nil)
	if err != nil {
		return integration.Definition{}, err
	}
	settings, err := source.OpenSettings(ctx, config, "")
	if err != nil {
		return integration.Definition{}, err
	}
	list, err := integration.List(b, settings.Settings)
	if err != nil {
		return integration.Definition{}, cli.Invalid(err)
	}
	i := slices.IndexFunc(list, func(d integration.Definition) bool { return d.Name == name })
	if i < 0 {
		return integration.Definition{}, cli.Usage(fmt.Errorf("the bundle defines no integration %q", name))
	}
	return list[i], nil
}

func suggest(ctx context.Context, env cli.Env, d integration.Definition, store trace.Store) error {
	list, ignored := store.All(ctx, d.Name)
	for _, s := range ignored {
		_, _ = fmt.Fprintf(env.Stderr, "planner: %s\n", report.Printable(s)) // a warning is not worth stopping for
	}
	if len(list) == 0 {
		return cli.Invalid(fmt.Errorf("nothing is remembered of %q: run it with --state, or see planner record --help",
			d.Name))
	}
	text, err := traces.Suggest(d, list)
	if err != nil {
		return err
	}
	_, err = io.WriteString(env.Stdout, text)
	return err
}
