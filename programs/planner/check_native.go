package planner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/affected"
	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/natives/generic"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/report/lines"
	"github.com/app-sre/prcheck/runner/effects"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
)

// checkNativeCommand returns the command that tells what a change does, as one native knows it.
func checkNativeCommand(env cli.Env, n integration.DryRunner, of integration.Teller) *cobra.Command {
	f := genericFlags{form: cli.OneOf("text", "json", "markdown")}
	cmd := &cobra.Command{
		Use:   n.Name() + " --base REF --head REF",
		Short: "Tell what a change does to what " + n.Name() + " keeps",
		Long: n.Name() + ` tells what the change does: which things are created, changed (which field, from
what to what) and deleted, and which line of the data leads to it. The data of base stand for
what is there. In a checkout (git:REV[@DIR], dir:PATH) places have lines.

Exit codes: 0 nothing is wrong; 1 something is; 2 wrong usage or invalid input.`,
		Example: "  planner check " + n.Name() + " --base git:origin/main --head dir:.",
		Args:    cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.base == "" || f.head == "" {
				return cli.Usage(errors.New("--base and --head are required: the bundles to compare"))
			}
			rules, err := source.ReadSettings(f.config)
			if err != nil {
				return err
			}
			open := f.opener(env, rules)
			told, err := f.tellOf(cmd.Context(), open, rules, n.Name(), of)
			if err != nil {
				return err
			}
			if err := writeToldAs(env, f.form.String(), told); err != nil {
				return err
			}
			if told.Fails() {
				return cli.ErrFailed
			}
			return nil
		},
	}
	f.add(cmd)
	return cmd
}

// writeToldAs writes what is told in a format.
func writeToldAs(env cli.Env, form string, told report.Told) error {
	if form != "json" {
		return writeFoundEffects(env, form, []report.Told{told})
	}
	e := json.NewEncoder(env.Stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Version string `json:"version"`
		report.Told
	}{plan.Version, told})
}

// writeFoundEffects writes effects as text or Markdown.
func writeFoundEffects(env cli.Env, form string, all []report.Told) error {
	switch form {
	case "text":
		return report.ToldText(env.Stdout, all, report.Style{})
	case "markdown":
		return report.ToldMarkdown(env.Stdout, all)
	}
	return nil
}

// tell returns what the native generic tells of the change, nothing without base. The settings need not name the hosts,
// since nothing is asked. Mistakes are told by the check.
func (f *genericFlags) tell(ctx context.Context, open source.Opener, rules *settings.Settings) ([]report.Told, error) {
	if f.base == "" {
		return nil, nil
	}
	of, ok := generic.With(generic.Options{AnyHost: true}).(integration.Teller)
	if !ok {
		return nil, nil
	}
	told, err := f.tellOf(ctx, open, rules, generic.Name, of)
	told.Findings = nil
	return []report.Told{told}, err
}

// tellOf returns what a native tells of the change.
func (f *genericFlags) tellOf(ctx context.Context, open source.Opener, rules *settings.Settings, name string,
	of integration.Teller) (report.Told, error) {
	base, err := answerer(ctx, open, f.base)
	if err != nil {
		return report.Told{}, err
	}
	head, err := answerer(ctx, open, f.head)
	if err != nil {
		return report.Told{}, err
	}
	var causes *effects.Causes
	var sides [2]*bundle.Bundle
	if !source.IsLive(f.base) && !source.IsLive(f.head) {
		if sides[0], sides[1], err = open.Pair(ctx, f.base, f.head); err != nil {
			return report.Told{}, err
		}
		causes = effects.NewCauses(bundle.Compare(sides[0], sides[1]))
	}
	told, err := change.Tell(ctx, of, rules.For(boundTo(rules, name)), affected.PartialQuerier(base),
		affected.PartialQuerier(head), causes)
	if err != nil {
		return told, cli.Invalid(fmt.Errorf("telling what the change does: %w", err))
	}
	if source.IsCheckout(f.head) {
		texts, err := open.Texts(ctx, f.head)
		if err != nil {
			return told, err
		}
		report.LocateTold([]report.Told{told}, lines.New(lines.Files{Checkout: rules.Checkout(), Read: texts.Read}, sides[0],
			sides[1]))
	}
	return told, nil
}

// boundTo returns the integration that the settings bind to a native, or the name of the native.
func boundTo(rules *settings.Settings, native string) string {
	names := rules.Names()
	if i := slices.IndexFunc(names, func(n string) bool { return rules.For(n).Native == native }); i >= 0 {
		return names[i]
	}
	return native
}
