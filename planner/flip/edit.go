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
)

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
