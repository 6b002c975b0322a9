package flip

import (
	"context"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// takeBack finds the part of the change without which the integration would be skipped.
func (f *finder) takeBack(ctx context.Context) []plan.Flip {
	build := func(units []unit) (Variant, error) {
		head, err := patched(f.Head, f.Base, units)
		return Variant{Base: f.Base, Head: head, Settings: f.Settings}, err
	}
	all := f.differences()
	found, ok := reduce(ctx, f, f.named(all), build)
	if !ok {
		found, ok = reduce(ctx, f, all, build)
	}
	if !ok {
		return nil
	}
	if fields := f.fields(found.changes); len(fields) > len(found.changes) {
		if smaller, ok := reduce(ctx, f, fields, build); ok {
			found = smaller
		}
	} else {
		found.changes = fields
	}
	return []plan.Flip{flipOf(plan.FlipTakeBack, found, changesOf(found.changes))}
}

// differences returns one unit for each file that differs, which makes it as on base, and one
// for the GraphQL types.
func (f *finder) differences() []unit {
	var out []unit
	add := func(part plan.FlipPart, changes []bundle.Change) {
		for _, c := range changes {
			u := unit{FlipChange: plan.FlipChange{Part: part, Path: string(c.Path)}}
			if schemas := c.Schemas(); len(schemas) > 0 {
				u.Schema = string(schemas[len(schemas)-1])
			}
			if c.Old != nil {
				u.raw = c.Old.Raw()
			}
			out = append(out, u)
		}
	}
	add(plan.PartDatafile, f.diff.Datafiles)
	add(plan.PartResource, f.diff.Resources)
	add(plan.PartResource, f.diff.Backrefs)
	for _, path := range f.diff.Schemas {
		u := unit{FlipChange: plan.FlipChange{Part: plan.PartSchema, Path: string(path)}}
		if old, ok := f.Base.JSONSchema(path); ok {
			u.raw = old.Raw()
		}
		out = append(out, u)
	}
	if len(f.diff.GraphQL) > 0 {
		out = append(out, unit{FlipChange: plan.FlipChange{Part: plan.PartTypes}})
	}
	return out
}

// named returns the units of the files that the evidence names.
func (f *finder) named(all []unit) []unit {
	e := f.Decision.Evidence
	names := slices.Concat(e.Paths, e.Definition)
	for _, q := range e.Queries {
		for _, field := range q.Fields {
			path, _, _ := strings.Cut(field, "#")
			names = append(names, path)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(u unit) bool { return !slices.Contains(names, u.Path) })
}

// fields replaces the units of datafiles that were modified by one unit for each key that
// differs at the top of the file.
func (f *finder) fields(units []unit) []unit {
	var out []unit
	for _, u := range units {
		i := slices.IndexFunc(f.diff.Datafiles, func(c bundle.Change) bool { return string(c.Path) == u.Path })
		if u.Part != plan.PartDatafile || f.diff.Datafiles[i].Kind != bundle.Modified {
			out = append(out, u)
			continue
		}
		c := f.diff.Datafiles[i]
		old := c.Old.Decode()
		for _, key := range topKeys(c.Fields) {
			field := unit{FlipChange: u.FlipChange, pointer: jsonpointer.Append("", key)}
			value, has := old.Get(key)
			field.value, field.absent = value, !has
			field.Field = narrowest(c.Fields, field.pointer, old, c.New.Decode())
			out = append(out, field)
		}
	}
	return out
}

// topKeys returns the first steps of pointers, each once.
func topKeys(pointers []string) []string {
	var out []string
	for _, p := range pointers {
		if steps := jsonpointer.Split(p); len(steps) > 0 && !slices.Contains(out, steps[0]) {
			out = append(out, steps[0])
		}
	}
	return out
}

// narrowest returns the only one of the pointers that leads to or below a key, as far as no
// list lies on the way, or else that of the key.
func narrowest(pointers []string, key string, before, after *bundle.Object) string {
	below := slices.DeleteFunc(slices.Clone(pointers), func(p string) bool {
		return p != key && !strings.HasPrefix(p, key+"/")
	})
	if len(below) != 1 {
		return key
	}
	at := ""
	for _, step := range jsonpointer.Split(below[0]) {
		a, inOld := before.Get(step)
		b, inNew := after.Get(step)
		at = jsonpointer.Append(at, step)
		oldBelow, isObject := a.(*bundle.Object)
		newBelow, areObjects := b.(*bundle.Object)
		if !inOld || !inNew || !isObject || !areObjects {
			break
		}
		before, after = oldBelow, newBelow
	}
	return at
}
