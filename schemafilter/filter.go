package schemafilter

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/names"
	"github.com/app-sre/prcheck/plan"
)

// maxPaths bounds how many changed files evidence names.
const maxPaths = 20

// An Input is what the first two rungs look at.
type Input struct {
	Base, Head []integration.Definition // in name order
	Changes    Changes
	Settings   *integration.Settings
	// Edited tells what head edits of the rules that concern an integration.
	// nil: nothing.
	Edited func(name string) []string
	// Readable tells whether the desired state of an integration can be told,
	// so that the next rungs can look at it. nil: of none.
	Readable func(name string) bool
}

// An Outcome is what the first two rungs say about one integration.
type Outcome struct {
	Name string
	// Use is the definition to run it by: that of base, or that of head when
	// only head has it.
	Use *integration.Definition
	// Blocked says why it has no trusted command; "" when it has one.
	Blocked string
	// Decided tells that Decision is final. Otherwise the next rungs decide,
	// and Decision holds what is known so far.
	Decided  bool
	Decision plan.Decision
	// Selected tells that a change concerns it as far as schemas tell; when it
	// is not decided and not selected, the next rungs confirm the skip.
	Selected bool

	edited []string
}

// Filter decides rungs 1 and 2 for every integration of either side, in name
// order.
func Filter(in Input) []Outcome {
	var out []Outcome
	f := filter{Input: in, ignored: in.allIgnored(), rules: in.rules(), unclaimed: in.unclaimed()}
	for b, h := 0, 0; b < len(in.Base) || h < len(in.Head); {
		var base, head *integration.Definition
		if b < len(in.Base) && (h == len(in.Head) || in.Base[b].Name <= in.Head[h].Name) {
			base = &in.Base[b]
		}
		if h < len(in.Head) && (base == nil || in.Head[h].Name == base.Name) {
			head = &in.Head[h]
		}
		if base != nil {
			b++
		}
		if head != nil {
			h++
		}
		out = append(out, f.one(base, head))
	}
	return out
}

// A filter is an input with what is worked out once for all integrations.
type filter struct {
	Input
	ignored   bool
	rules     map[string]string // by integration: the rule and the path it matched
	unclaimed []bundle.Path
}

// unclaimed returns the changed resources of which nothing tells who reads
// them: no schema, no datafile that mentions them, no paths rule.
func (in Input) unclaimed() []bundle.Path {
	var out []bundle.Path
	for _, f := range in.Changes.Files {
		claimed := len(f.Schemas) > 0 && !in.Changes.Unsure || len(in.Settings.RulesFor(f.Repo)) > 0
		if f.Resource && !claimed {
			out = append(out, f.Path)
		}
	}
	return out
}

func (in Input) allIgnored() bool {
	if len(in.Changes.Files) == 0 || len(in.Changes.Types) > 0 {
		return false
	}
	for _, f := range in.Changes.Files {
		if !in.Settings.IsIgnored(f.Repo) {
			return false
		}
	}
	return true
}

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

// one climbs both rungs for one integration; one of the sides may be nil.
func (f filter) one(base, head *integration.Definition) Outcome {
	o := Outcome{Use: base}
	if base == nil {
		o.Use = head
	}
	o.Name = o.Use.Name
	o.Decision = plan.Decision{Name: o.Name, Evidence: plan.Evidence{Definition: paths(base, head)}}
	if f.Edited != nil {
		o.edited = f.Edited(o.Name)
	}
	switch {
	case f.Changes.Same && len(o.edited) == 0:
		o.skip(plan.RungSchema, "base and head are the same bundle")
	case f.ignored && len(o.edited) == 0:
		o.skip(plan.RungSchema, "every change lies under paths.ignore")
	case head == nil:
		o.skip(plan.RungDefinition, "head removes its definition, so there is nothing to dry-run after the merge")
	case base == nil:
		f.added(&o)
	default:
		f.defined(&o, base, head)
	}
	return o
}

// added decides about an integration that only head defines.
func (f filter) added(o *Outcome) {
	switch c := o.Use.Check; {
	case c == nil:
		o.skip(plan.RungDefinition, "it is new and has no pr_check")
	case c.Disabled:
		o.skip(plan.RungDefinition, "it is new and its pr_check is disabled")
	default:
		f.untrusted(o, "only head defines it")
	}
}

// untrusted plans an integration whose command comes from head.
func (f filter) untrusted(o *Outcome, why string) {
	o.run(plan.RungDefinition, "it is new: "+why)
	o.Decision.Evidence.Edited = o.edited[:min(len(o.edited), maxPaths)]
	switch {
	case !f.Settings.TrustNewIntegrations:
		o.Blocked = why + ", so it has no trusted command; merge its definition first, or set trust.new_integrations"
	case !names.IsPlain(o.Name):
		o.Blocked = why + ", and its name is not one to put into a command"
	}
}

// defined decides about an integration that both sides define.
func (f filter) defined(o *Outcome, base, head *integration.Definition) {
	changed := base.DifferingParts(*head)
	c := base.Check
	switch {
	case base.Check == nil && head.Check == nil:
		o.skip(plan.RungDefinition, "it has no pr_check")
	case base.Check == nil && head.Check.Disabled:
		o.skip(plan.RungDefinition, "its pr_check is disabled")
	case base.Check == nil:
		o.Use = head
		o.Decision.Evidence.Fields = changed
		f.untrusted(o, "only head gives it a pr_check")
	case c.Disabled && (head.Check == nil || head.Check.Disabled):
		o.skip(plan.RungDefinition, "its pr_check is disabled")
	case len(changed) > 0:
		o.run(plan.RungDefinition, fmt.Sprintf("its own definition changed (%s); it runs as base defines it", strings.Join(changed, ", ")))
		o.Decision.Evidence.Fields = changed
		o.Decision.Evidence.Edited = o.edited[:min(len(o.edited), maxPaths)]
	case len(o.edited) > 0:
		o.run(plan.RungDefinition, "head edits the rules for it ("+some(o.edited)+"); it runs by those of base")
		o.Decision.Evidence.Edited = o.edited[:min(len(o.edited), maxPaths)]
	case c.AlwaysRun:
		o.run(plan.RungDefinition, "its pr_check says always_run")
	default:
		f.bySchema(o)
	}
}

// bySchema is the second rung.
func (f filter) bySchema(o *Outcome) {
	e := &o.Decision.Evidence
	files, schemas := f.Changes.allowed(o.Use.Allows)
	e.Allowed = len(o.Use.Schemas)
	e.Schemas = words(schemas)
	e.Paths = first(files)
	readable := f.Readable != nil && f.Readable(o.Name)
	switch {
	case f.rules[o.Name] != "":
		e.Rule = f.rules[o.Name]
		o.run(plan.RungSchema, "a paths rule names it: "+e.Rule)
	case readable:
		o.Selected = len(files) > 0 || len(f.Changes.Types) > 0
		o.Decision.Decision, o.Decision.Rung = plan.Skip, plan.RungSchema
		o.Decision.Reason = f.unconcerned(o.Use)
	case len(files) > 0:
		o.run(plan.RungSchema, "it may read "+some(words(files))+", which changed, and has no queries to look closer")
	case len(f.Changes.Types) > 0:
		o.doubt("%s changed, and without queries nothing shows that it is not concerned", some(f.Changes.Types))
	case len(f.unclaimed) > 0:
		o.doubt("resource %s changed, and no schema, datafile or paths rule tells who reads it", some(words(f.unclaimed)))
	case o.Use.Check.Unenforced && len(f.Changes.Files) > 0:
		o.doubt("its schemas are not enforced (no_validate_schemas), so they do not show that it is not concerned")
	default:
		o.skip(plan.RungSchema, f.unconcerned(o.Use))
	}
}

func (f filter) unconcerned(d *integration.Definition) string {
	if len(f.Changes.Files) == 0 {
		return "nothing but metadata changed"
	}
	switch n := len(d.Schemas); n {
	case 0:
		return "it may read no schema at all"
	case 1:
		return fmt.Sprintf("no changed file has %s, all that it may read", d.Schemas[0])
	default:
		return fmt.Sprintf("no changed file has one of the %d schemas it may read", n)
	}
}

func (o *Outcome) skip(rung plan.Rung, reason string) {
	o.Decided = true
	o.Decision.Decision, o.Decision.Rung, o.Decision.Reason = plan.Skip, rung, reason
}

func (o *Outcome) run(rung plan.Rung, reason string) {
	o.Decided = true
	o.Decision.Decision, o.Decision.Rung, o.Decision.Reason = plan.Run, rung, reason
}

// doubt makes it run because something could not be proven.
func (o *Outcome) doubt(format string, args ...any) {
	why := fmt.Sprintf(format, args...)
	o.run(plan.RungSchema, why)
	o.Decision.Evidence.Doubts = append(o.Decision.Evidence.Doubts, why)
}

func paths(base, head *integration.Definition) []string {
	var out []string
	if base != nil {
		out = append(out, string(base.Path))
	}
	if head != nil && (base == nil || head.Path != base.Path) {
		out = append(out, string(head.Path))
	}
	return out
}

func first(files []bundle.Path) []string {
	if len(files) > maxPaths {
		files = files[:maxPaths]
	}
	return words(files)
}

func words[T ~string](in []T) []string {
	var out []string
	for _, s := range in {
		out = append(out, string(s))
	}
	return out
}

// some names the first of a list and how many more there are.
func some(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	return fmt.Sprintf("%s and %d more", list[0], len(list)-1)
}
