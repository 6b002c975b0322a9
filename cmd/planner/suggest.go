package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/cmd/internal/change"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/trace"
)

func suggestCommand(env cli.Env) *cobra.Command {
	var ref, folder string
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
			ctx := cmd.Context()
			d, err := definition(ctx, env, ref, args[0])
			if err != nil {
				return err
			}
			store, err := requireTraces(ctx, folder, state.Reading)
			if err != nil {
				return err
			}
			return suggest(ctx, env, d, store)
		},
	}
	cmd.Flags().StringVar(&ref, "bundle", "", "bundle that holds the definition (required)")
	cmd.Flags().StringVar(&folder, "state", "", "folder, or s3://BUCKET/PREFIX, that remembers what tasks asked when they passed (required)")
	return cmd
}

// requireTraces opens what is remembered, at a place that must be named.
func requireTraces(ctx context.Context, place string, to state.Access) (trace.Store, error) {
	remembered, err := change.OpenState(ctx, place, to)
	if remembered == nil && err == nil {
		err = cli.Usage(errors.New("--state is required: the place that runner was given to remember in"))
	}
	return trace.NewStore(remembered), err
}

// definition returns an integration's definition of a bundle.
func definition(ctx context.Context, env cli.Env, ref, name string) (integration.Definition, error) {
	if ref == "" {
		return integration.Definition{}, cli.Usage(errors.New("--bundle is required: the bundle that holds the definition"))
	}
	b, err := source.In(env).Bundle(ctx, ref, nil)
	if err != nil {
		return integration.Definition{}, err
	}
	list, err := integration.List(b)
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
	traces, ignored := store.All(ctx, d.Name)
	for _, s := range ignored {
		_, _ = fmt.Fprintf(env.Stderr, "planner: %s\n", report.Printable(s)) // a warning is not worth stopping for
	}
	if len(traces) == 0 {
		return cli.Invalid(fmt.Errorf("nothing is remembered of %q: run it with --state, or see planner record --help", d.Name))
	}
	read := map[bundle.Schema]map[string]bool{}
	whole := false
	for _, t := range traces {
		whole = whole || t.Shard == ""
		for _, s := range t.Schemas {
			if read[s] == nil {
				read[s] = map[string]bool{}
			}
			for _, f := range t.Fields[s] {
				read[s][f] = true
			}
		}
	}
	raw, err := d.NarrowedYAML(slices.Sorted(maps.Keys(read)))
	if err != nil {
		return err
	}
	var out strings.Builder
	runs := "1 remembered run"
	if len(traces) != 1 {
		runs = fmt.Sprintf("%d remembered runs", len(traces))
	}
	fmt.Fprintf(&out, "# %s: what was read in %s\n", report.Printable(d.Name), runs)
	if !whole {
		out.WriteString("# of single shards only; other shards may need more\n")
	}
	for _, s := range d.Schemas {
		if read[s] == nil && !slices.Contains(integration.RequiredSchemas(), s) {
			fmt.Fprintf(&out, "# never read: %s\n", report.Printable(string(s)))
		}
	}
	for _, s := range slices.Sorted(maps.Keys(read)) {
		fmt.Fprintf(&out, "# read of %s: %s\n", report.Printable(string(s)), report.Printable(strings.Join(slices.Sorted(maps.Keys(read[s])), ", ")))
	}
	_, err = fmt.Fprintf(env.Stdout, "%s%s", out.String(), raw)
	return err
}
