package flip

import (
	"context"
	"slices"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// rules finds what the definition or the settings would have to say so that the integration
// were skipped.
func (f *finder) rules(ctx context.Context) []plan.Flip {
	switch f.Decision.Code {
	case plan.CodeAllowedFileChanged:
		return f.narrowed(ctx)
	case plan.CodeAlwaysRun:
		return f.check(ctx, "/pr_check/always_run")
	case plan.CodeNotEnforced:
		return f.check(ctx, "/pr_check/no_validate_schemas")
	}
	it := f.Settings.For(f.Decision.Name)
	switch {
	case f.Decision.Code == plan.CodeResourceChanged:
		it.Resources = settings.NewResources()
		return f.settings(ctx, "resources", `"none"`, f.Settings.With(it))
	case it.ListOrder == settings.OrderSignificant && f.Decision.Rung != plan.RungDefinition:
		it.ListOrder, it.ListOrderSet = settings.OrderIgnored, true
		return f.settings(ctx, "list_order", `"ignored"`, f.Settings.With(it))
	}
	return nil
}

// settings finds out whether the integration would be skipped by other settings.
func (f *finder) settings(ctx context.Context, key, to string, s *settings.Settings) []plan.Flip {
	c := plan.FlipChange{Part: plan.PartSettings, Path: f.Settings.File, Field: "integrations." + f.Decision.Name + "." +
		key, To: to}
	found, ok := reduce(ctx, f, []plan.FlipChange{c}, func([]plan.FlipChange) (Variant, error) {
		return Variant{Base: f.Base, Head: f.Head, Settings: s}, nil
	})
	if !ok {
		return nil
	}
	return []plan.Flip{flipOf(plan.FlipRules, found, found.changes)}
}

// onBoth applies units to base and head.
func (f *finder) onBoth(units []unit) (Variant, error) {
	base, err := patched(f.Base, nil, units)
	if err != nil {
		return Variant{}, err
	}
	head, err := patched(f.Head, nil, units)
	return Variant{Base: base, Head: head, Settings: f.Settings}, err
}

// definitionUnit returns the unit that gives a field of a definition another value.
func (f *finder) definitionUnit(d integration.Definition, pointer string, v any) unit {
	file, _ := f.Head.Datafile(d.Path)
	return edited(plan.PartDatafile, file, pointer, v)
}

// check finds out whether the integration would be skipped if a field of its pr_check were
// false.
func (f *finder) check(ctx context.Context, pointer string) []plan.Flip {
	d, ok := f.definition(f.Head)
	if !ok {
		return nil
	}
	found, ok := reduce(ctx, f, []unit{f.definitionUnit(d, pointer, false)}, f.onBoth)
	if !ok {
		return nil
	}
	return []plan.Flip{flipOf(plan.FlipRules, found, changesOf(found.changes))}
}

// narrowed finds the schemas without which in its definition the integration would be skipped.
func (f *finder) narrowed(ctx context.Context) []plan.Flip {
	d, ok := f.definition(f.Head)
	if !ok {
		return nil
	}
	allowed := func(left []string) []any {
		out := []any{}
		for _, s := range d.Schemas {
			if !slices.Contains(left, string(s)) {
				out = append(out, string(s))
			}
		}
		return out
	}
	removable := slices.DeleteFunc(slices.Clone(f.Decision.Evidence.Schemas), func(s string) bool {
		return slices.Contains(integration.RequiredSchemas(), bundle.SchemaPath(s))
	})
	found, ok := reduce(ctx, f, removable, func(left []string) (Variant, error) {
		return f.onBoth([]unit{f.definitionUnit(d, "/schemas", allowed(left))})
	})
	if !ok {
		return nil
	}
	c := f.definitionUnit(d, "/schemas", nil).FlipChange
	c.To, c.Without = "", found.changes
	return []plan.Flip{flipOf(plan.FlipRules, found, []plan.FlipChange{c})}
}
