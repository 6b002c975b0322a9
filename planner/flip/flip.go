package flip

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// maxTries bounds how often is decided anew.
const maxTries = 100

// A Variant is what a decision is made from, as far as it is changed.
type Variant struct {
	Base, Head *bundle.Bundle
	Settings   *settings.Settings
}

// A Case is the decision about an integration, and what it was made from.
type Case struct {
	Variant
	Decision plan.Decision
	// Decide decides anew about the integration. An error means that no plan can be made.
	Decide func(ctx context.Context, v Variant) (plan.Decision, error)
}

// Find returns the changes that would have decided otherwise. The error is that of the
// context.
func Find(ctx context.Context, c Case) (plan.Flips, error) {
	f := &finder{Case: c, diff: bundle.Compare(c.Base, c.Head), left: maxTries}
	out := plan.Flips{Known: []plan.Flip{}}
	if c.Decision.Decision == plan.Skip {
		out.Known = append(out.Known, f.enable(ctx)...)
		out.Known = append(out.Known, f.edits(ctx)...)
	} else {
		out.Known = append(out.Known, f.takeBack(ctx)...)
		out.Known = append(out.Known, f.rules(ctx)...)
	}
	if len(out.Known) == 0 {
		out.Why = "none of the changes that were tried would have decided otherwise"
	}
	return out, ctx.Err()
}

// A finder looks for flips.
type finder struct {
	Case
	diff *bundle.Diff
	left int // how many more times may be decided
}

// A trial is a set of changes that flips the decision, with the new decision.
type trial[T any] struct {
	changes  []T
	decision plan.Decision
	smallest bool
}

// try decides about a variant, and tells whether an integration that runs is skipped then, or
// the other way round.
func (f *finder) try(ctx context.Context, v Variant, err error) (plan.Decision, bool) {
	if err != nil || f.left <= 0 || ctx.Err() != nil {
		return plan.Decision{}, false
	}
	f.left--
	d, err := f.Decide(ctx, v)
	return d, err == nil && (d.Decision == plan.Skip) != (f.Decision.Decision == plan.Skip)
}

// reduce returns the smallest set of changes that it finds among those given, if all of them
// together flip the decision. Of two changes it keeps the earlier one. build makes the variant
// with some of the changes.
func reduce[T any](ctx context.Context, f *finder, all []T, build func([]T) (Variant, error)) (trial[T], bool) {
	flips := func(some []T) (plan.Decision, bool) {
		v, err := build(some)
		return f.try(ctx, v, err)
	}
	out := trial[T]{changes: all}
	d, ok := flips(all)
	if !ok || len(all) == 0 {
		return out, false
	}
	out.decision = d
	for size, dropped := (len(all)+1)/2, false; size > 0; {
		for end := len(out.changes); end > 0 && len(out.changes) > 1; end -= size {
			rest := without(out.changes, max(0, end-size), end)
			if d, ok := flips(rest); ok && len(rest) > 0 {
				out.changes, out.decision, dropped = rest, d, true
			}
		}
		switch {
		case size > 1:
			size = (size + 1) / 2
		case dropped && len(out.changes) > 1:
			dropped = false // what could not be left out before can perhaps be left out now
		default:
			size = 0
		}
	}
	out.smallest = f.left > 0 && ctx.Err() == nil
	return out, true
}

// without returns a copy of a list without the items from one index to another.
func without[T any](list []T, from, to int) []T {
	out := make([]T, 0, len(list))
	return append(append(out, list[:from]...), list[to:]...)
}

// flipOf returns a trial as a flip.
func flipOf[T any](kind plan.FlipKind, t trial[T], changes []plan.FlipChange) plan.Flip {
	return plan.Flip{
		Kind: kind, Changes: changes, Smallest: t.smallest,
		Decision: t.decision.Decision, Rung: t.decision.Rung, Code: t.decision.Code, Keys: t.decision.Evidence.Keys,
	}
}

// The bounds of what is tried.
const (
	filesPerSchema  = 3
	fieldsPerFile   = 40
	resourcesToEdit = 3
)

// definition returns the integration's definition in a bundle.
func (f *finder) definition(b *bundle.Bundle) (integration.Definition, bool) {
	all, err := integration.List(b, f.Settings)
	i := slices.IndexFunc(all, func(d integration.Definition) bool { return d.Name == f.Decision.Name })
	if err != nil || i < 0 {
		return integration.Definition{}, false
	}
	return all[i], true
}

// onHead applies units to head.
func (f *finder) onHead(units []unit) (Variant, error) {
	head, err := patched(f.Head, nil, units)
	return Variant{Base: f.Base, Head: head, Settings: f.Settings}, err
}

// enable finds out whether the integration would run if head no longer disabled it.
func (f *finder) enable(ctx context.Context) []plan.Flip {
	d, ok := f.definition(f.Head)
	if !ok || d.Check == nil || !d.Check.Disabled {
		return nil
	}
	found, ok := reduce(ctx, f, []unit{f.definitionUnit(d, "/pr_check/disabled", false)}, f.onHead)
	if !ok {
		return nil
	}
	return []plan.Flip{flipOf(plan.FlipEdit, found, changesOf(found.changes))}
}

// edits finds a datafile with another value in a field, or else one that is taken out, or else
// a resource with another content, so that the integration would run.
func (f *finder) edits(ctx context.Context) []plan.Flip {
	d, ok := f.definition(f.Head)
	if !ok {
		return nil
	}
	files := f.readable(d)
	for _, units := range [][]unit{f.fieldEdits(files, other), f.fieldEdits(files, f.neighbour(files)), removals(files),
		f.resourceEdits()} {
		if found, ok := reduce(ctx, f, units, f.onHead); ok {
			return []plan.Flip{flipOf(plan.FlipEdit, found, changesOf(found.changes))}
		}
	}
	return nil
}

// readable returns datafiles that the integration may read: of those that changed, and of
// each schema, the first ones.
func (f *finder) readable(d integration.Definition) []*bundle.File {
	var files []*bundle.File
	add := func(file *bundle.File, ok bool) {
		if ok && d.Allows(file.Schema) && file.Schema != f.Settings.DefinitionSchema() && !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	for _, c := range f.diff.Datafiles[:min(len(f.diff.Datafiles), filesPerSchema)] {
		add(f.Head.Datafile(c.Path))
	}
	for _, s := range d.Schemas {
		all := f.Head.BySchema(s)
		for _, file := range all[:min(len(all), filesPerSchema)] {
			add(file, true)
		}
	}
	return files
}

// fieldEdits returns other values for the scalars in datafiles. value returns the other value
// of a field.
func (f *finder) fieldEdits(files []*bundle.File, value func(file *bundle.File, pointer string, v any) any) []unit {
	var out []unit
	for _, file := range files {
		first := len(out)
		eachScalar(file.Decode(), "", func(pointer string, v any) bool {
			if w := value(file, pointer, v); !bundle.Equal(v, w) {
				out = append(out, edited(plan.PartDatafile, file, pointer, w))
			}
			return len(out)-first < fieldsPerFile
		})
	}
	return out
}

// neighbour returns a function that finds the value that a field has in another file of the
// same schema, so that filters may match. It returns the value itself if there is none.
func (f *finder) neighbour(files []*bundle.File) func(*bundle.File, string, any) any {
	values := map[string][]any{} // by schema and field
	f.fieldEdits(files, func(file *bundle.File, pointer string, v any) any {
		key := string(file.Schema) + "#" + pointer
		values[key] = append(values[key], v)
		return v
	})
	return func(file *bundle.File, pointer string, v any) any {
		for _, w := range values[string(file.Schema)+"#"+pointer] {
			if !bundle.Equal(v, w) {
				return w
			}
		}
		return v
	}
}

// removals returns units that take files out.
func removals(files []*bundle.File) []unit {
	var out []unit
	for _, file := range files {
		out = append(out,
			unit{FlipChange: plan.FlipChange{Part: plan.PartDatafile, Path: string(file.Path), Schema: string(file.Schema),
				Removed: true}})
	}
	return out
}

// resourceEdits returns other contents for the first resources.
func (f *finder) resourceEdits() []unit {
	var out []unit
	for _, file := range f.Head.Resources()[:min(len(f.Head.Resources()), resourcesToEdit)] {
		out = append(out, edited(plan.PartResource, file, "/content", other(file, "", file.Object().String("content"))))
	}
	return out
}

// edited returns the unit that gives a field another value.
func edited(part plan.FlipPart, file *bundle.File, pointer string, v any) unit {
	return unit{
		FlipChange: plan.FlipChange{Part: part, Path: string(file.Path), Schema: string(file.Schema), Field: pointer,
			To: string(bundle.AppendJSON(nil, v))},
		pointer: pointer, value: v,
	}
}

// eachScalar yields the scalars of a value, but not those that name a file or its schema,
// until yield returns false.
func eachScalar(v any, pointer string, yield func(pointer string, v any) bool) bool {
	switch v := v.(type) {
	case *bundle.Object:
		for _, m := range v.Members() {
			if !slices.Contains([]string{"$schema", "$ref", "$file_sha256sum", "__identifier", "path"}, m.Key) &&
				!eachScalar(m.Value, jsonpointer.Append(pointer, m.Key), yield) {
				return false
			}
		}
		return true
	case []any:
		for i, item := range v {
			if !eachScalar(item, jsonpointer.Append(pointer, strconv.Itoa(i)), yield) {
				return false
			}
		}
		return true
	case string:
		return strings.HasPrefix(v, "/") || yield(pointer, v)
	case nil:
		return true
	}
	return yield(pointer, v)
}

// other returns another scalar of the same type.
func other(_ *bundle.File, _ string, v any) any {
	switch v := v.(type) {
	case bool:
		return !v
	case bundle.Number:
		if v == "1" {
			return bundle.Number("2")
		}
		return bundle.Number("1")
	case string:
		if v == "changed" {
			return "changed again"
		}
	}
	return "changed"
}

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
