package selftest

import (
	"context"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// A Law is a promise of the planner, with the conditions under which it holds.
type Law struct {
	Name       string
	Says       string
	Conditions string

	live  bool // it can be checked on the bundles of a live server
	check func(ctx context.Context, t *tester, base, head *bundle.Bundle) (finding, error)
}

// Laws returns all laws, in the order in which they are checked.
func Laws() []Law {
	return []Law{
		{Name: "same", Says: "a change of nothing plans nothing",
			Conditions: "head edits no rules", check: checkSame},
		{Name: "swap", Says: "base and head swapped select the same integrations",
			Conditions: "both sides define the integration in the same way; no traces", check: checkSwap},
		{Name: "order", Says: "the order of files and keys does not matter",
			Conditions: "if the order of lists counts (list_order: significant), both sides have their files in the same order",
			check:      checkOrder},
		{Name: "lists", Says: "the order of list items does not matter to declared queries",
			Conditions: "list_order is ignored, which is the default", check: checkLists},
		{Name: "whole", Says: "selected, skipped and disabled integrations are all integrations, each once",
			Conditions: "none", live: true, check: checkWhole},
		{Name: "proof", Says: "a second implementation finds no decision that leaves too much out",
			Conditions: "none", live: true, check: checkProof},
		{Name: "shards", Says: "the shards of an integration are the whole integration, and none overlap",
			Conditions: "the integration is divided into tasks", check: checkShards},
		{Name: "parts", Says: "the parts of a plan are the whole plan, and none overlap",
			Conditions: "the plan has tasks", live: true, check: checkParts},
		{Name: "sources", Says: "a bundle gives the same plan however it was opened",
			Conditions: "a server is asked only if both sides have the same types, and not about integrations whose queries " +
				"have errors", check: checkSources},
		{Name: "rename", Says: "renaming a file is removing one and adding another",
			Conditions: "a few datafiles are renamed, one of each schema", check: checkRename},
		{Name: "narrow", Says: "a narrower list of schemas never adds work",
			Conditions: "both sides define the integration in the same way", check: checkNarrow},
		{Name: "more", Says: "a change that is added to another keeps what the other selected",
			Conditions: "both sides have the same types and define the integration in the same way; the addition does not " +
				"take the desired state back to that of base", check: checkMore},
	}
}

func checkSame(ctx context.Context, t *tester, base, head *bundle.Bundle) (finding, error) {
	var f finding
	for _, side := range []struct {
		name string
		b    *bundle.Bundle
	}{{"base", base}, {"head", head}} {
		p, err := t.Make(ctx, t.plain(side.b, side.b))
		if err != nil {
			return f, &unplannedError{err}
		}
		for _, d := range p.Integrations {
			f.checked++
			if selects(d) {
				f.broken = &Counterexample{Integration: d.Name, What: side.name + " beside itself: " + describe(d)}
				return f, nil
			}
		}
	}
	return f, nil
}

func checkSwap(ctx context.Context, t *tester, base, head *bundle.Bundle) (finding, error) {
	names, err := t.unedited(base, head)
	if err != nil || len(names) == 0 {
		return finding{why: noUnedited}, err
	}
	there, err := t.decisions(ctx, base, head)
	if err != nil {
		return finding{}, err
	}
	back, err := t.decisions(ctx, head, base)
	if err != nil {
		return finding{}, err
	}
	var f finding
	for _, name := range names {
		f.checked++
		if selects(there[name]) != selects(back[name]) {
			f.broken = &Counterexample{Integration: name, What: fmt.Sprintf("from base to head: %s; from head to base: %s",
				describe(there[name]), describe(back[name]))}
			return f, nil
		}
	}
	return f, nil
}

// checkOrder reverses files and keys, once on both sides and once on head alone. It leaves the
// values of JSON fields alone: a query prints their keys as they are written.
func checkOrder(ctx context.Context, t *tester, base, head *bundle.Bundle) (finding, error) {
	want, err := t.decisions(ctx, base, head)
	if err != nil {
		return finding{}, err
	}
	otherBase, err := reordered(base).bundle(nil)
	if err != nil {
		return finding{}, err
	}
	otherHead, err := reordered(head).bundle(otherBase)
	if err != nil {
		return finding{}, err
	}
	f, err := t.compare(ctx, want, otherBase, otherHead, "files and keys reversed on both sides", nil)
	if err != nil || f.broken != nil {
		return f, err
	}
	counts := func(name string) bool {
		return t.in.Settings.For(name).ListOrder == settings.OrderSignificant
	}
	g, err := t.compare(ctx, want, base, otherHead, "files and keys reversed on head", counts)
	g.checked += f.checked
	return g, err
}

// compare plans two bundles and compares the decisions with those that are wanted. It leaves
// out integrations for which except holds.
func (t *tester) compare(ctx context.Context, want map[string]plan.Decision, base, head *bundle.Bundle, how string,
	except func(name string) bool) (finding, error) {
	var f finding
	got, err := t.decisions(ctx, base, head)
	if err != nil {
		return f, err
	}
	for _, name := range sortedNames(want) {
		if except != nil && except(name) {
			continue
		}
		f.checked++
		if a, b := want[name], got[name]; !isSameWork(a, b) {
			f.broken = &Counterexample{Integration: name, What: fmt.Sprintf("as it is: %s; %s: %s", describe(a), how,
				describe(b))}
			return f, nil
		}
	}
	return f, nil
}

func isSameWork(a, b plan.Decision) bool {
	return a.Decision == b.Decision && slices.Equal(slices.Sorted(slices.Values(a.Tasks)),
		slices.Sorted(slices.Values(b.Tasks)))
}

func sortedNames(of map[string]plan.Decision) []string {
	out := make([]string, 0, len(of))
	for name := range of {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// reordered returns a bundle with the files of each section, and the keys of each file,
// reversed, but for the keys inside of JSON fields.
func reordered(b *bundle.Bundle) variant {
	v := variantOf(b)
	printed := map[string]bool{}
	addJSONFields(printed, v.graphql)
	for _, section := range []*[]file{&v.data, &v.resources, &v.schemas} {
		*section = rewritten(*section, func(_ file, o *bundle.Object) (any, bool) { return reverseKeys(o, printed), true })
		slices.Reverse(*section)
	}
	return v
}

// addJSONFields adds the names of all fields of the type json to a set.
func addJSONFields(names map[string]bool, types any) {
	switch types := types.(type) {
	case []any:
		for _, item := range types {
			addJSONFields(names, item)
		}
	case *bundle.Object:
		if types.String("type") == "json" {
			names[types.String("name")] = true
		}
		for _, m := range types.Members() {
			addJSONFields(names, m.Value)
		}
	}
}

// reverseKeys reverses the keys of all objects but those below the names of keep.
func reverseKeys(v any, keep map[string]bool) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = reverseKeys(v[i], keep)
		}
		return out
	case *bundle.Object:
		var members []bundle.Member
		for _, m := range slices.Backward(v.Members()) {
			if !keep[m.Key] {
				m.Value = reverseKeys(m.Value, keep)
			}
			members = append(members, m)
		}
		return bundle.NewObject(members...)
	}
	return v
}

// checkLists reverses all lists in all datafiles but definitions, and compares base with the
// result.
func checkLists(ctx context.Context, t *tester, base, _ *bundle.Bundle) (finding, error) {
	var f finding
	v := variantOf(base)
	v.data = rewritten(v.data, func(f file, o *bundle.Object) (any, bool) {
		return reverseLists(o), bundle.SchemaPath(o.String("$schema")) != t.in.Settings.DefinitionSchema()
	})
	other, err := v.bundle(base)
	if err != nil {
		return f, err
	}
	got, err := t.decisions(ctx, base, other)
	if err != nil {
		return f, err
	}
	for _, name := range sortedNames(got) {
		it, d := t.in.Settings.For(name), got[name]
		if len(it.Queries) == 0 || it.ListOrder == settings.OrderSignificant || len(d.Evidence.Doubts) > 0 {
			continue
		}
		f.checked++
		if selects(d) && (d.Rung == plan.RungState || d.Rung == plan.RungShards) {
			f.broken = &Counterexample{Integration: name, What: "base beside base with all lists reversed: " + describe(d)}
			return f, nil
		}
	}
	if f.checked == 0 {
		f.why = "no integration declares queries with list_order: ignored"
	}
	return f, nil
}

func reverseLists(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, 0, len(v))
		for _, item := range slices.Backward(v) {
			out = append(out, reverseLists(item))
		}
		return out
	case *bundle.Object:
		members := slices.Clone(v.Members())
		for i, m := range members {
			members[i].Value = reverseLists(m.Value)
		}
		return bundle.NewObject(members...)
	}
	return v
}
