package planner_test

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
)

// A mutant is a deliberate breakage of a rule. The planner is made forgetful: it is shown an
// input that lacks what the rule looks at, and so makes the plan that a planner without the
// rule would make. A mutant with edit changes the honest plan instead. In both ways the
// broken plan must be refuted, and the honest plan must hold.
type mutant struct {
	name     string
	settings string
	change   func(base, head *side)  // makes base and head
	given    func(in *planner.Input) // what is remembered and edited

	hide   func(base, head *side)  // what of them the forgetful planner does not see
	rules  string                  // the settings that it sees; "" for the same
	forget func(in *planner.Input) // what else it does not see
	edit   func(p *plan.Plan)      // changes the honest plan

	words string // in the reason why the broken plan does not hold
}

// mutants are all mutants. The list is the test: a rule without a mutant can be broken
// without notice.
func mutants() []mutant {
	return slices.Concat(definitionMutants(), schemaMutants(), dependenceMutants(), earlyMutants(), stateMutants(),
		boundMutants(), shardMutants(), traceMutants(), fileMutants(), resultMutants(), planMutants(), evidenceMutants())
}

func TestMutants(t *testing.T) {
	names := map[string]bool{}
	reasons := map[plan.Code]bool{}
	for _, m := range mutants() {
		if names[m.name] {
			t.Errorf("two mutants are named %q", m.name)
		}
		names[m.name] = true
		t.Run(m.name, func(t *testing.T) {
			in := m.input(t, m.settings)
			honest := made(t, in)
			if gaps := verify(t, in, honest); len(gaps) > 0 {
				t.Fatalf("the honest plan is refuted: %v", gaps)
			}
			d, _ := honest.Decision("it")
			reasons[d.Code] = true
			broken := m.broken(t, honest)
			if text(t, broken) == text(t, honest) {
				t.Fatal("the broken plan is the honest one")
			}
			gaps := verify(t, in, broken)
			if len(gaps) != 1 || gaps[0].Integration != "it" || !strings.Contains(gaps[0].Why, m.words) {
				b, _ := broken.Decision("it")
				t.Errorf("got %v, want one gap with %q\nhonest: %s %s\nbroken: %s %s", gaps, m.words, brief(d), d.Reason, brief(b),
					b.Reason)
			}
		})
	}
	if len(names) < 60 {
		t.Errorf("there are %d mutants only", len(names))
	}
	for _, code := range runs {
		if !reasons[code] {
			t.Errorf("no mutant breaks the rule of %s", code)
		}
	}
}

// runs are the reasons for which the ladder runs something, or leaves out some of it.
var runs = []plan.Code{
	plan.CodeNewDefinition, plan.CodeNewCheck, plan.CodeDefinitionChanged, plan.CodeRulesEdited, plan.CodeAlwaysRun,
	plan.CodePathsRule, plan.CodeAllowedFileChanged, plan.CodeDependsOnFile, plan.CodeTypesChanged,
	plan.CodeResourceChanged, plan.CodeNotEnforced,
	plan.CodeStateUnproven, plan.CodeStateDiffers, plan.CodeNotByShard, plan.CodeTooManyShards, plan.CodeShardsDiffer,
	plan.CodeSomeShardsProven, plan.CodePassedBefore,
}

// input returns the input of the mutant, with these settings.
func (m mutant) input(t *testing.T, settings string) planner.Input {
	base, head := m.sides()
	in := input(t, base, head, settings)
	if m.given != nil {
		m.given(&in)
	}
	return in
}

func (m mutant) sides() (base, head *side) {
	base, head = world(), world()
	addRest(base)
	addRest(head)
	set("/rest.yml", "$file_sha256sum", "other")(head) // so that no two bundles are the same
	if m.change != nil {
		m.change(base, head)
	}
	return base, head
}

// broken returns the plan of the forgetful planner, as if it was made from the true input.
func (m mutant) broken(t *testing.T, honest *plan.Plan) *plan.Plan {
	t.Helper()
	out := deepCopy(t, honest)
	if m.edit == nil {
		base, head := m.sides()
		if m.hide != nil {
			m.hide(base, head)
		}
		blind := input(t, base, head, cmp.Or(m.rules, m.settings))
		if m.given != nil {
			m.given(&blind)
		}
		if m.forget != nil {
			m.forget(&blind)
		}
		forgot := made(t, blind)
		*decision(out), _ = forgot.Decision("it")
		out.Tasks = forgot.Tasks
	} else {
		m.edit(out)
	}
	if err := out.Seal(); err != nil {
		t.Fatal(err)
	}
	return out
}

// deepCopy returns a copy of a plan that can be changed.
func deepCopy(t *testing.T, p *plan.Plan) *plan.Plan {
	t.Helper()
	out, err := plan.Read(strings.NewReader(text(t, p)))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// decision returns the decision about "it", to be changed.
func decision(p *plan.Plan) *plan.Decision {
	i := slices.IndexFunc(p.Integrations, func(d plan.Decision) bool { return d.Name == "it" })
	return &p.Integrations[i]
}

// unchanged hides every change of head.
func unchanged(base, head *side) {
	head.data, head.resources, head.schemas, head.types = base.data, base.resources, base.schemas, base.types
}

// unchangedFiles hides changes of these files.
func unchangedFiles(paths ...string) func(base, head *side) {
	return func(base, head *side) {
		for _, p := range paths {
			for _, section := range [][2]object{{base.data, head.data}, {base.resources, head.resources}} {
				if old, ok := section[0][p]; ok {
					section[1][p] = old
				} else {
					remove(section[1], p)
				}
			}
		}
	}
}

// always does the same to both sides.
func always(f func(s *side)) func(base, head *side) {
	return func(base, head *side) { f(base); f(head) }
}

// onHead does something to head alone.
func onHead(f func(s *side)) func(base, head *side) { return func(_, head *side) { f(head) } }

// then does one thing after the other.
func then(all ...func(base, head *side)) func(base, head *side) {
	return func(base, head *side) {
		for _, f := range all {
			f(base, head)
		}
	}
}

func set(path, key string, v any) func(s *side) {
	return func(s *side) { s.data[path] = with(s.at(path), key, v) }
}

func unset(path, key string) func(s *side) {
	return func(s *side) { s.data[path] = with(s.at(path), key, nil); remove(s.at(path), key) }
}

func with(o object, key string, v any) object {
	out := maps.Clone(o)
	out[key] = v
	return out
}

// checkSays sets a key of the pr_check of "it".
func checkSays(key string, v any) func(s *side) {
	return func(s *side) { set("/it.yml", "pr_check", with(s.check(), key, v))(s) }
}

// content changes a resource.
func content(path string) func(s *side) {
	return func(s *side) { s.resources[path] = with(s.resources[path].(object), "content", "changed") }
}
