package selftest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// maxRenamed is how many files are renamed, and maxSingle how many files are changed alone.
const (
	maxRenamed = 8
	maxSingle  = 8
)

// checkRename compares the rename of a file with its removal and with the addition of the
// same file under another path.
func checkRename(ctx context.Context, t *tester, base, _ *bundle.Bundle) (finding, error) {
	var f finding
	seen := map[bundle.SchemaPath]bool{t.in.Settings.DefinitionSchema(): true}
	for _, of := range base.Datafiles() {
		if seen[of.Schema] || len(seen) > maxRenamed {
			continue
		}
		seen[of.Schema] = true
		c, err := t.rename(ctx, base, of)
		var unplanned *unplannedError
		if errors.As(err, &unplanned) {
			continue // such as a settings file that wants a file of this schema
		}
		if err != nil {
			return f, err
		}
		f.checked++
		if f.broken = c; c != nil {
			return f, nil
		}
	}
	if f.checked == 0 {
		f.why = "base has no datafile that is not a definition"
	}
	return f, nil
}

func (t *tester) rename(ctx context.Context, base *bundle.Bundle, of *bundle.File) (*Counterexample, error) {
	to := renamedPath(of.Path, func(p bundle.Path) bool { _, taken := base.Datafile(p); return taken })
	without := func(f file) bool { return f.path == of.Path }
	removed, added, renamed := variantOf(base), variantOf(base), variantOf(base)
	removed.data = slices.DeleteFunc(removed.data, without)
	added.data = append(added.data, file{to, of.Raw()})
	renamed.data = append(slices.DeleteFunc(renamed.data, without), file{to, of.Raw()})
	var got [3]*plan.Plan
	for i, v := range []variant{removed, added, renamed} {
		head, err := v.bundle(base)
		if err != nil {
			return nil, err
		}
		if got[i], err = t.Make(ctx, t.plain(base, head)); err != nil {
			return nil, &unplannedError{err}
		}
	}
	how := fmt.Sprintf("data%s is renamed to data%s", of.Path, to)
	var kinds []plan.Kind
	for _, c := range got[2].Changes.Datafiles {
		kinds = append(kinds, c.Kind)
	}
	if !slices.Equal(kinds, []plan.Kind{plan.Removed, plan.Added}) &&
		!slices.Equal(kinds, []plan.Kind{plan.Added, plan.Removed}) {
		return &Counterexample{What: fmt.Sprintf("%s, and the plan lists the changes %v", how, kinds)}, nil
	}
	remove, add := byName(got[0]), byName(got[1])
	for _, d := range got[2].Integrations {
		r, a := remove[d.Name], add[d.Name]
		bySchema := selects(r) && r.Rung == plan.RungSchema || selects(a) && a.Rung == plan.RungSchema
		if selects(d) && !selects(r) && !selects(a) || bySchema && !selects(d) {
			return &Counterexample{Integration: d.Name, What: fmt.Sprintf("%s: %s; removed: %s; added: %s", how, describe(d),
				describe(r), describe(a))}, nil
		}
	}
	return nil, nil
}

// checkNarrow takes schemas away from all definitions, on both sides.
func checkNarrow(ctx context.Context, t *tester, base, head *bundle.Bundle) (finding, error) {
	names, err := t.unedited(base, head)
	if err != nil || len(names) == 0 {
		return finding{why: noUnedited}, err
	}
	want, err := t.decisions(ctx, base, head)
	if err != nil {
		return finding{}, err
	}
	var f finding
	for _, keep := range []func(i, n int) bool{
		func(i, _ int) bool { return i%2 == 0 },
		func(i, _ int) bool { return i%2 == 1 },
		func(i, n int) bool { return i < n-1 },
		func(int, int) bool { return false },
	} {
		b, err := t.narrowed(base, keep).bundle(nil)
		if err != nil {
			return f, err
		}
		h, err := t.narrowed(head, keep).bundle(b)
		if err != nil {
			return f, err
		}
		got, err := t.decisions(ctx, b, h)
		if err != nil {
			return f, err
		}
		for _, name := range names {
			f.checked++
			if amount(got[name]) > amount(want[name]) {
				f.broken = &Counterexample{Integration: name, What: fmt.Sprintf("as it is: %s; with fewer schemas: %s",
					describe(want[name]), describe(got[name]))}
				return f, nil
			}
		}
	}
	return f, nil
}

func amount(d plan.Decision) int {
	return slices.Index([]plan.Action{plan.Skip, plan.Shards, plan.Run}, d.Decision)
}

// narrowed returns a bundle whose definitions allow only those of their schemas for which
// keep holds, by index and number.
func (t *tester) narrowed(b *bundle.Bundle, keep func(i, n int) bool) variant {
	v := variantOf(b)
	v.data = rewritten(v.data, func(_ file, o *bundle.Object) (any, bool) {
		schemas, _ := o.Get("schemas")
		list, ok := schemas.([]any)
		if !ok || bundle.SchemaPath(o.String("$schema")) != t.in.Settings.DefinitionSchema() {
			return nil, false
		}
		kept := []any{}
		for i, s := range list {
			if keep(i, len(list)) {
				kept = append(kept, s)
			}
		}
		narrow := bundle.NewObject(o.Members()...)
		narrow.Set("schemas", kept)
		return narrow, true
	})
	return v
}

// checkMore compares the whole change with parts of it.
func checkMore(ctx context.Context, t *tester, base, head *bundle.Bundle) (finding, error) {
	if d := bundle.Compare(base, head); len(d.Schemas)+len(d.GraphQL) > 0 {
		return finding{why: "head changes JSON schemas or GraphQL types"}, nil
	}
	names, err := t.unedited(base, head)
	if err != nil || len(names) == 0 {
		return finding{why: noUnedited}, err
	}
	all := changedFiles(base, head)
	if len(all) < 2 {
		return finding{why: "fewer than two files changed"}, nil
	}
	want, err := t.decisions(ctx, base, head)
	if err != nil {
		return finding{}, err
	}
	parts := [][]string{all[:len(all)/2], all[len(all)/2:]}
	for i := range min(len(all), maxSingle) {
		parts = append(parts, all[i:i+1])
	}
	var f finding
	for _, files := range parts {
		c, checked, err := t.part(ctx, names, want, files)
		if err != nil {
			return f, err
		}
		f.checked += checked
		if f.broken = c; c != nil {
			return f, nil
		}
	}
	return f, nil
}

// part compares the whole change with a part of it. A part that cannot be planned alone, such
// as one half of a moved definition, is left out.
func (t *tester) part(ctx context.Context, names []string, whole map[string]plan.Decision,
	files []string) (*Counterexample, int, error) {
	head, err := mix(t.in.Base, t.in.Head, files)
	if err != nil {
		return nil, 0, err
	}
	got, err := t.decisions(ctx, t.in.Base, head)
	if err != nil {
		return nil, 0, ctx.Err()
	}
	for _, name := range names {
		d, w := got[name], whole[name]
		if d.Rung == plan.RungDefinition && len(d.Evidence.Fields) > 0 {
			continue // this part of the change defines it in another way
		}
		if selects(d) && !selects(w) && w.Rung != plan.RungState {
			what := fmt.Sprintf("with %d of the changed files (%s, …): %s; with all: %s", len(files), files[0], describe(d),
				describe(w))
			return &Counterexample{Integration: name, What: what}, 0, nil
		}
	}
	return nil, len(names), nil
}
