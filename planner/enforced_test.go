package planner_test

import (
	"testing"

	"github.com/app-sre/prcheck/planner"
)

// Where it is enforced what a task may ask for, nothing else is an input of it. Where it is not, everything is.
func TestEnforcedInputs(t *testing.T) {
	const start = "version: 1\nexec: {argv: [run, '{cmd}']}\n"
	const strict = start + "schemas: strict\n"
	const none = strict + "integrations: {it: {resources: none}}\n"
	inputs := func(settings string, changes ...func(*side)) string {
		base, head := world(), world()
		rename(base, head)
		for _, s := range []*side{base, head} {
			for _, change := range changes {
				change(s)
			}
		}
		in := input(t, base, head, settings)
		in.Results = planner.NoResults{}
		return made(t, in).Tasks[0].Inputs
	}
	other := func(s *side) { s.at("/others/else.yml")["name"] = "new" }
	own := func(s *side) { s.at("/roles/ops.yml")["name"] = "new" }
	led := func(s *side) { s.resources["/t.txt"] = resource("/t.txt", "new", nil) }
	lone := func(s *side) { s.resources["/lone.txt"] = resource("/lone.txt", "new", nil) }
	all := func(s *side) {
		s.data["/it.yml"] = definition("it", object{"cmd": "it", "no_validate_schemas": true})
	}
	newType := func(s *side) {
		s.types = append(s.types, kind("New_v1", "/new-1.yml", field("name", "string", nil)))
	}
	type changes = []func(*side)
	for name, c := range map[string]struct {
		settings string
		before   changes
		edit     func(*side)
		counts   bool
	}{
		"a file of another schema":                  {strict, nil, other, false},
		"a file of another schema, only believed":   {start, nil, other, true},
		"a file of another schema, all may be read": {strict, changes{all}, other, true},
		"a file that it may read":                   {strict, nil, own, true},
		"a resource":                                {strict, nil, lone, true},
		"a resource that it may not ask for":        {none, nil, lone, false},
		"a resource that a file of it leads to":     {none, nil, led, true},
		"a resource, only believed":                 {start + "integrations: {it: {resources: none}}\n", nil, lone, true},
		"types":                                     {strict, nil, newType, true},
		"its definition": {strict, nil, func(s *side) {
			s.data["/it.yml"] = definition("it", object{"cmd": "it", "run_order": 2})
		}, true},
	} {
		edited := inputs(c.settings, append(changes{c.edit}, c.before...)...)
		if got := edited != inputs(c.settings, c.before...); got != c.counts {
			t.Errorf("%s counts: %v, want %v", name, got, c.counts)
		}
	}
}

// What a run was let ask for counts: one that passed where it might ask for all resources shows nothing about a run that
// may ask for none, also if no resource is there.
func TestEnforcedInputsOfPermission(t *testing.T) {
	inputs := func(permission string) string {
		base, head := world(), world()
		rename(base, head)
		base.resources, head.resources = object{}, object{}
		in := input(t, base, head, "version: 1\nexec: {argv: [run, '{cmd}']}\nschemas: strict\n"+permission)
		in.Results = planner.NoResults{}
		return made(t, in).Tasks[0].Inputs
	}
	const none, some = "integrations: {it: {resources: none}}\n", "integrations: {it: {resources: [resources/a/**]}}\n"
	if all := inputs(""); inputs(none) == all || inputs(some) == all || inputs(none) == inputs(some) {
		t.Error("which resources a task may ask for does not count")
	}
	if inputs("# a comment\n"+some) != inputs(some) {
		t.Error("the line of a pattern counts")
	}
}

// What a task sees of base counts as well, since it compares both sides.
func TestEnforcedInputsOfBase(t *testing.T) {
	inputs := func(name string) string {
		base, head := world(), world()
		rename(base, head)
		base.at("/roles/ops.yml")["name"], head.at("/roles/ops.yml")["name"] = name, "now"
		in := input(t, base, head, "version: 1\nexec: {argv: [run, '{cmd}']}\nschemas: strict\n")
		in.Results = planner.NoResults{}
		return made(t, in).Tasks[0].Inputs
	}
	if inputs("one") == inputs("two") {
		t.Error("what base says does not count")
	}
}
