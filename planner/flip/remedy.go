package flip

import (
	"context"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// A remedy is a change of the definition on both sides, or of the settings, that may make a
// unit run that was skipped.
type remedy struct {
	text string // what to do, in words
	make func() (Variant, error)
}

// Remedy returns the smallest change that was found with which a unit would have run that the
// plan left out, in words; "" if none of those tried would have, or if the unit would run now
// without any. Observed tells what the unit reads.
func Remedy(ctx context.Context, c Case, unit plan.Skipped, observed plan.Observed) string {
	f := &finder{Case: c, diff: bundle.Compare(c.Base, c.Head), left: maxTries}
	if d, err := f.Decide(ctx, c.Variant); err != nil || runs(d, unit) { // then a change proves nothing
		return ""
	}
	for _, r := range f.remedies(observed) {
		v, err := r.make()
		if err != nil || ctx.Err() != nil {
			continue
		}
		if d, err := f.Decide(ctx, v); err == nil && runs(d, unit) {
			return r.text
		}
	}
	return ""
}

// runs reports whether a decision runs a unit: alone, or as a part of a full run.
func runs(d plan.Decision, unit plan.Skipped) bool {
	return slices.Contains(d.Tasks, unit.Task.ID) || d.Decision == plan.Run && d.Evidence.Reused == 0
}

// remedies returns the remedies to try: those that make least else run come first.
func (f *finder) remedies(observed plan.Observed) []remedy {
	var out []remedy
	d, ok := f.definition(f.Head)
	if ok {
		out = f.schemaRemedies(d, observed)
	}
	it := f.Settings.For(f.Decision.Name)
	set := func(text string, change func(*settings.Integration)) {
		other := it
		change(&other)
		out = append(out, remedy{fmt.Sprintf(text, "integrations."+f.Decision.Name), func() (Variant, error) {
			return Variant{Base: f.Base, Head: f.Head, Settings: f.Settings.With(other)}, nil
		}})
	}
	if it.ListOrder != settings.OrderSignificant {
		set(`set %s.list_order to "significant" in the settings`, func(it *settings.Integration) {
			it.ListOrder, it.ListOrderSet = settings.OrderSignificant, true
		})
	}
	set("take %s.resources out of the settings", func(it *settings.Integration) { it.Resources = settings.Resources{} })
	set(`set %s.reuse to "none" in the settings`, func(it *settings.Integration) { it.Reuse = 0 })
	set(`set %s.trace to "none" in the settings`, func(it *settings.Integration) { it.Trace = settings.TraceNone })
	set("take %s.shards out of the settings", func(it *settings.Integration) { it.Shards = nil })
	set("take %s.queries and shards out of the settings", func(it *settings.Integration) {
		it.Queries, it.Shards = nil,
			nil
	})
	if ok {
		out = append(out, remedy{fmt.Sprintf("set pr_check.always_run to true in the definition %s", d.Path),
			func() (Variant, error) {
				return f.onBoth([]unit{f.definitionUnit(d, "/pr_check/always_run", true)})
			}})
	}
	return out
}

// schemaRemedies returns the remedies that allow a schema of a changed file: first those on
// which the unit was seen to depend.
func (f *finder) schemaRemedies(d integration.Definition, observed plan.Observed) []remedy {
	var seen, others []bundle.SchemaPath
	for _, c := range f.diff.Datafiles {
		for _, b := range []*bundle.Bundle{f.Head, f.Base} {
			file, ok := b.Datafile(c.Path)
			switch {
			case !ok || d.Allows(file.Schema) || slices.Contains(seen, file.Schema) || slices.Contains(others, file.Schema):
			case slices.Contains(observed.Beyond, string(file.Schema)) || slices.Contains(observed.Read, string(file.Schema)):
				seen = append(seen, file.Schema)
			default:
				others = append(others, file.Schema)
			}
		}
	}
	var out []remedy
	for _, s := range slices.Concat(seen, others[:min(len(others), maxSchemas)]) {
		schemas := []any{string(s)}
		for _, allowed := range d.Schemas {
			schemas = append(schemas, string(allowed))
		}
		out = append(out, remedy{fmt.Sprintf("add %s to the schemas of the definition %s", s, d.Path),
			func() (Variant, error) {
				return f.onBoth([]unit{f.definitionUnit(d, "/schemas", schemas)})
			}})
	}
	return out
}

// maxSchemas is how many changed schemas are tried on which the unit was not seen to depend.
const maxSchemas = 5
