package planner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/affected"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/natives/generic"
	"github.com/app-sre/prcheck/natives/generic/check"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/report/lines"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
)

func checkCommand(env cli.Env, natives []integration.DryRunner) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Tell what a change would do, from two bundles alone",
		Long: `check tells what the change from base to head would do to things that the data describe.
It needs no credentials, asks no service and runs no integration.`,
	}
	cmd.AddCommand(checkGenericCommand(env))
	for _, n := range natives {
		if teller, ok := n.(integration.Teller); ok && n.Name() != generic.Name {
			cmd.AddCommand(checkNativeCommand(env, n, teller))
		}
	}
	return cmd
}

// genericFlags are the flags of check generic.
type genericFlags struct {
	base, head, config string
	noCache            bool
	form               cli.Choice
}

func checkGenericCommand(env cli.Env) *cobra.Command {
	f := genericFlags{form: cli.OneOf("text", "json", "markdown")}
	cmd := &cobra.Command{
		Use:   "generic --base REF --head REF",
		Short: "Find what a change must not do to resources of APIs",
		Long: `generic checks the resources that API specifications describe (/cloud/resource-1.yml): is
each body allowed by its specification, does the change mean delete and create, what is
left behind. The data of base stand for what is there, and the specifications and
overrides of base are the rules. What is wrong on base as well is shown as old and fails
nothing. Then it tells what the change does: which resources are created, changed (which
property, from what to what) and deleted, and which line of the data leads to it.

Without --base everything is new. In a checkout (git:REV[@DIR], dir:PATH) findings have
lines.

Exit codes: 0 nothing is wrong; 1 something is; 2 wrong usage or invalid input.`,
		Example: `  planner check generic --base git:origin/main --head dir:.
  planner check generic --base base.json --head head.json --format markdown
  planner check generic --base base.json --head head.json --format json | jq '.findings[] | select(.code == "CREATE_ONLY")'`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), env) },
	}
	f.add(cmd)
	return cmd
}

// add adds the flags to a command.
func (f *genericFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.base, "base", "", "bundle before the change: "+references)
	flags.StringVar(&f.head, "head", "", "bundle with the change, likewise (required)")
	flags.StringVar(&f.config, "config", "", "settings file, which says where the parts of a checkout are (default "+
		"prcheck.yaml if it exists)")
	flags.Var(&f.form, "format", "how to write it: text, json or markdown")
	flags.BoolVar(&f.noCache, "no-cache", false, "remember nothing of checkouts")
}

// opener returns what opens bundles.
func (f *genericFlags) opener(env cli.Env, rules *settings.Settings) source.Opener {
	open := source.In(env)
	open.Settings = rules
	if f.noCache {
		open.Cache = ""
	}
	return open
}

func (f *genericFlags) run(ctx context.Context, env cli.Env) error {
	if f.head == "" {
		return cli.Usage(errors.New("--head is required: the bundle to check"))
	}
	rules, err := source.ReadSettings(f.config)
	if err != nil {
		return err
	}
	open := f.opener(env, rules)
	base, head, err := f.models(ctx, open)
	if err != nil {
		return err
	}
	if head == nil {
		return cli.Invalid(fmt.Errorf("bundle %q: its GraphQL types have no resources of APIs, see docs/generic.md", f.head))
	}
	r := check.Run(base, head)
	if source.IsCheckout(f.head) {
		texts, err := open.Texts(ctx, f.head)
		if err != nil {
			return err
		}
		finder := lines.New(lines.Files{Checkout: rules.Checkout(), Read: texts.Read}, nil, nil)
		r.Locate(func(file, pointer string) int { return finder.Find(file, pointer).Line })
	}
	told, err := f.tell(ctx, open, rules)
	if err != nil {
		return err
	}
	if len(told) > 0 {
		r.Effects = told[0].Effects.Items
	}
	write := map[string]func(*check.Report) error{
		"text":     func(r *check.Report) error { return r.WriteText(env.Stdout) },
		"json":     func(r *check.Report) error { return r.WriteJSON(env.Stdout) },
		"markdown": func(r *check.Report) error { return r.WriteMarkdown(env.Stdout) },
	}[f.form.String()]
	if err := write(r); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if err := writeFoundEffects(env, f.form.String(), told); err != nil {
		return err
	}
	if r.Fails() {
		return cli.ErrFailed
	}
	return nil
}

// models reads the resources of both bundles at once.
func (f *genericFlags) models(ctx context.Context, open source.Opener) (base, head *cloud.Model, err error) {
	reader := &cloud.Reader{}
	var baseErr, headErr error
	var both sync.WaitGroup
	both.Go(func() { base, baseErr = readCloud(ctx, open, reader, f.base) })
	both.Go(func() { head, headErr = readCloud(ctx, open, reader, f.head) })
	both.Wait()
	return base, head, cmp.Or(baseErr, headErr)
}

// readCloud reads the resources of a bundle. The model is nil if there is no reference, or if
// the bundle is from before the first import.
func readCloud(ctx context.Context, open source.Opener, reader *cloud.Reader, ref string) (*cloud.Model, error) {
	if ref == "" {
		return nil, nil
	}
	from, err := answerer(ctx, open, ref)
	if err != nil {
		return nil, err
	}
	query := affected.PartialQuerier(from)
	isKnown, err := cloud.IsKnown(ctx, query)
	if err == nil && !isKnown {
		return nil, nil
	}
	var m *cloud.Model
	if err == nil {
		m, err = reader.Read(ctx, query)
	}
	if err != nil {
		return nil, cli.Invalid(fmt.Errorf("bundle %q: %w", ref, err))
	}
	return m, nil
}
