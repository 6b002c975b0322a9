package planner_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/planner/proof"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// laws hold for every plan: it can be read again, has each integration of
// either side once, verifies, and does not verify when work is taken out. And
// no change means no work.
func laws(t *testing.T, in planner.Input, p *plan.Plan) {
	t.Helper()
	if _, err := plan.Read(strings.NewReader(text(t, p))); err != nil {
		t.Error(err)
	}
	want := map[string]bool{}
	for _, b := range []*bundle.Bundle{in.Base, in.Head} {
		all, err := integration.List(b, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range all {
			want[d.Name] = true
		}
	}
	var got []string
	for _, d := range p.Integrations {
		got = append(got, d.Name)
	}
	if want := slices.Sorted(maps.Keys(want)); !slices.Equal(got, want) {
		t.Errorf("integrations: got %q, want %q", got, want)
	}
	if gaps := verify(t, in, p); len(gaps) > 0 {
		t.Errorf("the plan does not verify: %v", gaps)
	}
	for _, d := range p.Integrations {
		if d.Decision != plan.Skip {
			skipped(t, in, p, d.Name)
		}
		for _, id := range d.Tasks {
			dropped(t, in, p, d.Name, id)
		}
	}
	for _, b := range []*bundle.Bundle{in.Base, in.Head} {
		same := in
		same.Base, same.Head = b, b
		if p, err := planner.Make(t.Context(), same); err == nil && len(p.Tasks) > 0 {
			t.Errorf("no change, and %d tasks", len(p.Tasks))
		}
	}
}

func verify(t *testing.T, in planner.Input, p *plan.Plan) []proof.Gap {
	t.Helper()
	report, err := planner.Verify(t.Context(), in, p)
	if err != nil {
		t.Fatal(err)
	}
	return report.Refuted
}

// skipped holds that a plan that skips an integration instead does not verify.
func skipped(t *testing.T, in planner.Input, p *plan.Plan, name string) {
	t.Helper()
	bad := clone(p)
	bad.Tasks = slices.DeleteFunc(bad.Tasks, func(t plan.Task) bool { return t.Integration == name })
	for i := range bad.Integrations {
		if d := &bad.Integrations[i]; d.Name == name {
			d.Decision, d.Rung, d.Reason, d.Tasks = plan.Skip, plan.RungState, "trust me", nil
			d.Evidence = plan.Evidence{}
		}
	}
	if err := bad.Seal(); err != nil {
		t.Fatal(err)
	}
	if gaps := verify(t, in, bad); len(gaps) != 1 || gaps[0].Integration != name {
		t.Errorf("%s is skipped, and the gaps are %v", name, gaps)
	}
}

// dropped holds that a plan without one of its tasks does not verify.
func dropped(t *testing.T, in planner.Input, p *plan.Plan, name, task string) {
	t.Helper()
	bad := clone(p)
	bad.Tasks = slices.DeleteFunc(bad.Tasks, func(t plan.Task) bool { return t.ID == task })
	if gaps := verify(t, in, bad); len(gaps) != 1 || gaps[0].Integration != name {
		t.Errorf("task %s is left out, and the gaps are %v", task, gaps)
	}
}

func clone(p *plan.Plan) *plan.Plan {
	c := *p
	c.Integrations, c.Tasks = slices.Clone(p.Integrations), slices.Clone(p.Tasks)
	return &c
}

func TestVerifyOtherInput(t *testing.T) {
	head := world()
	rename(nil, head)
	in := input(t, world(), head, asks("", "names.graphql"))
	p := made(t, in)
	tests := []struct {
		name   string
		change func(*planner.Input)
		want   string
	}{
		{"base", func(in *planner.Input) { in.Base = in.Head }, "base: not what the plan was made from: its sha256 is "},
		{"head", func(in *planner.Input) { in.Head = in.Base }, "head: not what the plan was made from: its sha256 is "},
		{"settings", func(in *planner.Input) {
			in.Settings = &settings.Settings{}
		}, `settings: not what the plan was made from: its sha256 is ""`},
	}
	for _, tt := range tests {
		other := in
		tt.change(&other)
		if _, err := planner.Verify(t.Context(), other, p); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
	for want, edit := range map[string]func(*plan.Changes){
		"which changed": func(c *plan.Changes) { c.Datafiles = nil },
		`the plan lists the datafile "/same.yml", which is the same on both sides`: func(c *plan.Changes) {
			c.Datafiles = append(slices.Clone(c.Datafiles), plan.Datafile{Path: "/same.yml", Kind: plan.Modified})
		},
		`the plan lists the resource "/same.txt", which is the same on both sides`: func(c *plan.Changes) {
			c.Resources = append(slices.Clone(c.Resources), plan.Resource{Path: "/same.txt", Kind: plan.Added})
		},
	} {
		edited := clone(p)
		edit(&edited.Changes)
		if gaps := verify(t, in, edited); len(gaps) == 0 || gaps[0].Integration != "changes" ||
			!strings.HasSuffix(gaps[0].Why, want) {
			t.Errorf("got %v, want %s", gaps, want)
		}
	}
	unknown := clone(p)
	unknown.Integrations = nil
	if gaps := verify(t, in, unknown); len(gaps) != 1 || gaps[0].Why != "the plan says nothing about it" {
		t.Errorf("got %v", gaps)
	}
}
