package schemafilter

import (
	"cmp"
	"fmt"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/names"
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

// maxNamed bounds how many changed files, and how many edits, evidence names.
const maxNamed = 20

// definition is the first rung: it decides by the definitions alone.
func (f filter) definition(o Outcome, edits []string) Outcome {
	switch {
	case o.Head == nil:
		return o.skip(plan.RungDefinition, plan.CodeRemoved)
	case o.Base == nil && o.Head.Check == nil:
		return o.skip(plan.RungDefinition, plan.CodeNewWithoutCheck)
	case o.Base == nil && o.Head.Check.Disabled:
		return o.skip(plan.RungDefinition, plan.CodeNewDisabled)
	case o.Base == nil:
		o = f.trust(o, plan.CodeUntrustedDefinition, plan.CodeUnsafeDefinition)
		return o.run(plan.RungDefinition, plan.Reason{Code: plan.CodeNewDefinition}, plan.Evidence{Edited: firstOf(edits)})
	case o.Base.Check == nil:
		return f.newCheck(o, edits)
	}
	changed := o.Base.DifferingParts(*o.Head)
	switch {
	case !active(o.Base.Check) && !active(o.Head.Check):
		return o.skip(plan.RungDefinition, plan.CodeDisabled)
	case len(changed) > 0:
		return o.run(plan.RungDefinition, plan.Reason{Code: plan.CodeDefinitionChanged, Names: changed},
			plan.Evidence{Fields: changed, Edited: firstOf(edits)})
	case len(edits) > 0:
		return o.run(plan.RungDefinition, plan.Reason{Code: plan.CodeRulesEdited, Names: edits},
			plan.Evidence{Edited: firstOf(edits), Rule: f.rules[o.Name]})
	case o.Base.Check.AlwaysRun:
		return o.run(plan.RungDefinition, plan.Reason{Code: plan.CodeAlwaysRun}, plan.Evidence{Doubts: f.unseen(o.Name)})
	}
	return o
}

// active tells whether there is a pr_check that is not disabled.
func active(c *integration.Check) bool { return c != nil && !c.Disabled }

// newCheck decides about an integration that both sides define, without a
// pr_check on base.
func (f filter) newCheck(o Outcome, edits []string) Outcome {
	switch {
	case o.Head.Check == nil:
		return o.skip(plan.RungDefinition, plan.CodeNoCheck)
	case o.Head.Check.Disabled:
		return o.skip(plan.RungDefinition, plan.CodeDisabled)
	}
	o.Use = o.Head
	o = f.trust(o, plan.CodeUntrustedCheck, plan.CodeUnsafeCheck)
	return o.run(plan.RungDefinition, plan.Reason{Code: plan.CodeNewCheck},
		plan.Evidence{Fields: o.Base.DifferingParts(*o.Head), Edited: firstOf(edits)})
}

// trust blocks an integration whose command comes from head, unless the settings
// trust new integrations and its name is a plain word.
func (f filter) trust(o Outcome, untrusted, unsafe plan.Code) Outcome {
	switch {
	case !f.Settings.TrustNewIntegrations:
		o.Blocked = plan.Reason{Code: untrusted}
	case !names.IsPlain(o.Name):
		o.Blocked = plan.Reason{Code: unsafe}
	}
	return o
}

// schema is the second rung: it decides by the schemas of the changed files, by
// paths rules and by changed types.
func (f filter) schema(o Outcome) Outcome {
	files, schemas := f.Changes.allowed(o.Use.Allows)
	reached := f.Changes.reached(f.remembered(o.Name))
	resources := f.readable(f.Settings.For(o.Name).Resources)
	e := plan.Evidence{Allowed: len(o.Use.Schemas), Schemas: texts(schemas), Paths: firstOf(texts(files))}
	types := f.Changes.Types
	switch {
	case f.rules[o.Name] != "":
		e.Rule = f.rules[o.Name]
		return o.run(plan.RungSchema, plan.Reason{Code: plan.CodePathsRule, Text: e.Rule}, e)
	case f.HasState != nil && f.HasState(o.Name):
		o.Selected = len(files) > 0 || len(types) > 0
		o.Conclusion = o.Conclusion.Then(plan.Conclusion{Action: plan.Skip, Rung: plan.RungSchema,
			Reason: f.unconcerned(o.Use), Evidence: e})
		return o
	case len(files) > 0:
		e.Doubts = f.unseen(o.Name)
		return o.run(plan.RungSchema, plan.Reason{Code: plan.CodeAllowedFileChanged, Names: texts(files)}, e)
	case len(reached) > 0:
		e.Paths = firstOf(texts(reached))
		return o.doubt(plan.Reason{Code: plan.CodeDependsOnFile, Names: texts(reached)}, e)
	case len(types) > 0:
		return o.doubt(plan.Reason{Code: plan.CodeTypesChanged, Names: types}, e)
	case len(resources) > 0:
		return o.doubt(plan.Reason{Code: plan.CodeResourceChanged, Names: texts(resources)}, e)
	case o.Use.Check.Unenforced && len(f.Changes.Files) > 0:
		return o.doubt(plan.Reason{Code: plan.CodeNotEnforced}, e)
	}
	return o.decide(plan.Conclusion{Action: plan.Skip, Rung: plan.RungSchema, Reason: f.unconcerned(o.Use), Evidence: e})
}

// unseen returns the doubts about an integration that runs for another reason. Its own
// comparison of desired states may not see files that it reached beyond its schemas, nor
// resources, nor files of a paths rule, so it must not end early when one of them changed.
func (f filter) unseen(name string) []string {
	var out []string
	reached, resources := f.Changes.reached(f.remembered(name)), f.readable(f.Settings.For(name).Resources)
	if rule := f.rules[name]; rule != "" {
		out = append(out, plan.Reason{Code: plan.CodePathsRule, Text: rule}.String())
	}
	if len(reached) > 0 {
		out = append(out, plan.Reason{Code: plan.CodeDependsOnFile, Names: texts(reached)}.String())
	}
	if len(resources) > 0 {
		out = append(out, plan.Reason{Code: plan.CodeResourceChanged, Names: texts(resources)}.String())
	}
	return out
}

// unconcerned returns the reason why no change concerns an integration.
func (f filter) unconcerned(d *integration.Definition) plan.Reason {
	switch {
	case len(f.Changes.Files) == 0:
		return plan.Reason{Code: plan.CodeOnlyMetadata}
	case f.onlyIgnored():
		return plan.Reason{Code: plan.CodeAllIgnored}
	case len(d.Schemas) == 0:
		return plan.Reason{Code: plan.CodeNoSchemas}
	}
	return plan.Reason{Code: plan.CodeNoAllowedFile, Names: texts(d.Schemas), Count: len(d.Schemas)}
}

// remembered returns what is remembered of an integration.
func (f filter) remembered(name string) dependence.Beyond {
	if f.Remembered == nil {
		return dependence.Beyond{}
	}
	return f.Remembered(name)
}

// onlyIgnored tells whether nothing changed but resources under paths.ignore.
func (f filter) onlyIgnored() bool {
	for _, file := range f.Changes.Files {
		if !file.Resource || !f.Settings.IsIgnored(file.Repo) {
			return false
		}
	}
	return true
}

// readable returns the changed resources that an integration may read as far as is known.
// When the datafiles that mention a resource are not all known, any of them may lead
// there.
func (f filter) readable(may settings.Resources) []bundle.Path {
	var out []bundle.Path
	for _, p := range f.resources {
		if may.Allow(string(p)) || f.Changes.Unsure {
			out = append(out, p)
		}
	}
	return out
}

// decide returns the outcome with a final conclusion.
func (o Outcome) decide(c plan.Conclusion) Outcome {
	o.Decided, o.Conclusion = true, o.Conclusion.Then(c)
	return o
}

// skip returns the outcome of an integration that is skipped.
func (o Outcome) skip(rung plan.Rung, code plan.Code) Outcome {
	return o.decide(plan.Conclusion{Action: plan.Skip, Rung: rung, Reason: plan.Reason{Code: code}})
}

// run returns the outcome of an integration that runs.
func (o Outcome) run(rung plan.Rung, why plan.Reason, e plan.Evidence) Outcome {
	return o.decide(plan.Conclusion{Action: plan.Run, Rung: rung, Reason: why, Evidence: e})
}

// doubt returns the outcome of an integration that runs because something could
// not be proven.
func (o Outcome) doubt(why plan.Reason, e plan.Evidence) Outcome {
	e.Doubts = []string{why.String()}
	return o.run(plan.RungSchema, why, e)
}

// firstOf returns the names that evidence holds of a list.
func firstOf(list []string) []string { return list[:min(len(list), maxNamed)] }

// texts converts paths or schemas to plain strings.
func texts[T ~string](in []T) []string {
	var out []string
	for _, s := range in {
		out = append(out, string(s))
	}
	return out
}
