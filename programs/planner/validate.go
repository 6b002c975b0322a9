package planner

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/qontract/validator"
	"github.com/app-sre/prcheck/source"
)

// A validation holds the flags of validate.
type validation struct {
	head, base string
	scope      validator.Scope
	form       cli.Choice
	from       source.Folders
	config     string
	noCache    bool
}

func validateCommand(env cli.Env) *cobra.Command {
	v := validation{scope: validator.All, form: cli.OneOf("text", "json")}
	cmd := &cobra.Command{
		Use:   "validate --bundle REF [--base REF] [--scope all|changed] [flags]",
		Short: "Find the mistakes in a bundle",
		Long: `validate checks a bundle as qontract-validator does and writes every mistake
with its place, its rule and what was found: JSON schemas, references and
resources, unique fields, GraphQL types. With --scope changed it checks what
differs from the base bundle, and whatever that can break. In a checkout
(git:REV[@DIR], dir:PATH), or with the folders that the bundle was made from,
mistakes have a line and a column.

Exit code 0: no mistake; 1: there are some.`,
		Example: `  planner validate --bundle head.json
  planner validate --bundle head.json --base base.json --scope changed
  planner validate --bundle dir:. --base git:origin/main --scope changed
  planner validate --bundle head.json --data data --resources resources --schemas schemas --graphql schema.yml`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return validate(cmd.Context(), env, v)
		},
	}
	f := cmd.Flags()
	f.StringVar(&v.head, "bundle", "", "bundle to check (required)")
	f.StringVar(&v.base, "base", "", "bundle before the change")
	f.Var(&v.scope, "scope", "what to check: all, or changed, which needs --base")
	f.Var(&v.form, "format", "how to write it: text or json")
	f.StringVar(&v.config, "config", "", "settings file, which says where the parts of a checkout are (default "+
		"prcheck.yaml if it exists)")
	f.BoolVar(&v.noCache, "no-cache", false, "remember nothing of checkouts")
	f.StringVar(&v.from.Data, "data", "", "folder of the datafiles, to find lines")
	f.StringVar(&v.from.Resources, "resources", "", "folder of the resources, to name their files")
	f.StringVar(&v.from.Schemas, "schemas", "", "folder of the JSON schemas, to find lines")
	f.StringVar(&v.from.GraphQL, "graphql", "", "file of the GraphQL types, to find lines")
	return cmd
}

func validate(ctx context.Context, env cli.Env, v validation) error {
	if v.head == "" {
		return cli.Usage(errors.New("--bundle is required: the bundle file to check"))
	}
	if v.scope == validator.Changed && v.base == "" {
		return cli.Usage(errors.New("--scope changed needs --base: the bundle before the change"))
	}
	settings, err := source.ReadSettings(v.config)
	if err != nil {
		return err
	}
	open := source.In(env)
	open.Settings = settings
	if v.noCache {
		open.Cache = ""
	}
	base, head, err := open.UncheckedPair(ctx, v.base, v.head)
	if err != nil {
		return err
	}
	texts := v.from.Texts()
	if source.IsCheckout(v.head) {
		if texts, err = open.Texts(ctx, v.head); err != nil {
			return err
		}
	}
	r, err := validator.Check(ctx, head, validator.Options{Base: base, Scope: v.scope})
	if err != nil {
		return err
	}
	texts.Locate(r, head)
	write := r.WriteText
	if v.form.String() == "json" {
		write = r.WriteJSON
	}
	if err := write(env.Stdout, texts.Names); err != nil {
		return err
	}
	if len(r.Findings) > 0 {
		return cli.ErrFailed
	}
	return nil
}
