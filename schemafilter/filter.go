package schemafilter

import (
	"cmp"
	"fmt"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state/dependence"
)

// An Input holds the facts that the first two rungs look at.
type Input struct {
	Base, Head []integration.Definition // in name order
	Changes    Changes
	Settings   *settings.Settings
	// Edited returns the edits of head to the rules that an integration is planned
	// by. A nil function means that there are none.
	Edited func(name string) []string
	// Remembered returns on what the answers of an integration depend beyond the schemas
	// that its definition allows, as its runs showed. A nil function means that nothing is
	// remembered.
	Remembered func(name string) dependence.Beyond
	// HasState tells whether the desired state of an integration can be told, so
	// that the rungs above can compare it. A nil function means that none can.
	HasState func(name string) bool
}

// An Outcome is the result of the first two rungs for one integration.
type Outcome struct {
	Name string
	// Base and Head are its definitions; nil on a side that does not define it.
	Base, Head *integration.Definition
	// Use is the definition to run it by: that of base, or that of head when base
	// has none with a pr_check.
	Use *integration.Definition
	// Blocked says why it has no trusted command; zero when it has one.
	Blocked plan.Reason
	// Decided tells that one of the two rungs decided. Otherwise the rungs above
	// decide, and Conclusion holds the facts that are known so far.
	Decided    bool
	Conclusion plan.Conclusion
	// Selected tells that a change concerns the integration as far as schemas tell.
	// When it is neither decided nor selected, the rungs above confirm the skip.
	Selected bool
}

// FromHead tells whether the definition that is used comes from head, because
// base has none with a pr_check.
func (o Outcome) FromHead() bool { return o.Base == nil || o.Base.Check == nil }

// Filter decides the rungs definition and schema for every integration of either
// side, in name order.
func Filter(in Input) []Outcome {
	f := filter{Input: in, rules: in.rules(), resources: in.resources()}
	var out []Outcome
	for b, h := 0, 0; b < len(in.Base) || h < len(in.Head); {
		var base, head *integration.Definition
		if b < len(in.Base) && (h == len(in.Head) || in.Base[b].Name <= in.Head[h].Name) {
			base = &in.Base[b]
			b++
		}
		if h < len(in.Head) && (base == nil || in.Head[h].Name == base.Name) {
			head = &in.Head[h]
			h++
		}
		out = append(out, f.decide(base, head))
	}
	return out
}

// A filter is an input, with facts that are computed once for all integrations.
type filter struct {
	Input
	rules     map[string]string // by integration: the paths rule that selects it, and the path that the rule covers
	resources []bundle.Path     // changed resources that do not lie under paths.ignore
}

// decide asks both rungs about one integration. One of its definitions may be nil.
func (f filter) decide(base, head *integration.Definition) Outcome {
	o := Outcome{Base: base, Head: head, Use: cmp.Or(base, head)}
	o.Name = o.Use.Name
	o.Conclusion.Evidence.Definition = definitionPaths(base, head)
	var edits []string
	if f.Edited != nil {
		edits = f.Edited(o.Name)
	}
	if f.Changes.Same && len(edits) == 0 {
		return o.skip(plan.RungSchema, plan.CodeSameBundle)
	}
	if o = f.definition(o, edits); o.Decided {
		return o
	}
	return f.schema(o)
}

// resources returns the changed resources that do not lie under paths.ignore. Any
// integration may read them by their path.
func (in Input) resources() []bundle.Path {
	var out []bundle.Path
	for _, f := range in.Changes.Files {
		if f.Resource && !in.Settings.IsIgnored(f.Repo) {
			out = append(out, f.Path)
		}
	}
	return out
}

// rules returns, by integration, the first paths rule that selects it and the
// path that the rule covers, as one text.
func (in Input) rules() map[string]string {
	out := map[string]string{}
	for _, f := range in.Changes.Files {
		for _, rule := range in.Settings.RulesFor(f.Repo) {
			glob, _ := rule.Match(f.Repo)
			for _, it := range rule.Run {
				if _, ok := out[it.Name]; !ok {
					out[it.Name] = fmt.Sprintf("%s covers %s", glob.Pattern, f.Repo)
				}
			}
		}
	}
	return out
}

// definitionPaths returns the paths of the definitions, base before head when
// they differ.
func definitionPaths(base, head *integration.Definition) []string {
	var out []string
	if base != nil {
		out = append(out, string(base.Path))
	}
	if head != nil && (base == nil || head.Path != base.Path) {
		out = append(out, string(head.Path))
	}
	return out
}
