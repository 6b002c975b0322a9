package planner

import (
	"context"
	"fmt"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner/flip"
)

// Decide returns the decision about one integration, as [Make] makes it. It is false if
// neither side defines the integration. The errors are those of Make.
func Decide(ctx context.Context, in Input, name string) (plan.Decision, bool, error) {
	l, err := newLadder(in)
	if err != nil {
		return plan.Decision{}, false, err
	}
	for _, o := range l.outcomes() {
		if o.Name == name {
			d, _ := l.climb(ctx, o).decision(name)
			return d, true, ctx.Err()
		}
	}
	return plan.Decision{}, false, ctx.Err()
}

// CheckInput returns an error if a plan was not made from these bundles and settings.
func CheckInput(in Input, p *plan.Plan) error {
	for _, s := range []struct {
		side, id  string
		have, was string
	}{
		{"base", "sha256", in.Base.SHA256(), p.Base.SHA256},
		{"head", "sha256", in.Head.SHA256(), p.Head.SHA256},
		{"settings", "sha256", in.Settings.Digest(), p.Config},
		{"base's files", "tree", in.BaseFiles.Tree, p.Base.Tree},
		{"head's files", "tree", in.HeadFiles.Tree, p.Head.Tree},
	} {
		isOld := s.id == "tree" && s.was == "" // plans had no trees once
		if s.have != s.was && !isOld {
			return fmt.Errorf("%s: not what the plan was made from: its %s is %q, the plan's %q", s.side, s.id, s.have, s.was)
		}
	}
	return nil
}

// Flips finds the changes that would have decided otherwise about an integration of a plan.
// The input must be that of the plan.
func Flips(ctx context.Context, in Input, p *plan.Plan, name string) (plan.Flips, error) {
	if err := CheckInput(in, p); err != nil {
		return plan.Flips{}, err
	}
	was, _ := p.Decision(name)
	now, known, err := Decide(ctx, in, name)
	if err != nil {
		return plan.Flips{}, err
	}
	if !known || now.Decision != was.Decision || now.Rung != was.Rung || now.Code != was.Code {
		return plan.Flips{Known: []plan.Flip{}, Why: "planned again, the decision is another one: give the --state that " +
			"the plan was made with, as it was then"}, nil
	}
	return flip.Find(ctx, in.asCase(now))
}

// Remedy returns the smallest change of a definition or the settings that was found with which
// a plan would have run a unit that it left out; "" if none is known. The input must be that of
// the plan. Observed tells what the unit reads.
func Remedy(ctx context.Context, in Input, p *plan.Plan, unit plan.Skipped, observed plan.Observed) string {
	was, ok := p.Decision(unit.Task.Integration)
	if !ok {
		return ""
	}
	return flip.Remedy(ctx, in.asCase(was), unit, observed)
}

// asCase returns a decision as a case in which variants of the input are decided about.
func (in Input) asCase(d plan.Decision) flip.Case {
	return flip.Case{
		Variant: flip.Variant{Base: in.Base, Head: in.Head, Settings: in.Settings}, Decision: d,
		Decide: func(ctx context.Context, v flip.Variant) (plan.Decision, error) {
			other := in
			other.Base, other.Head, other.Settings = v.Base, v.Head, v.Settings
			now, known, err := Decide(ctx, other, d.Name)
			if err == nil && !known { // an integration that nobody defines does not run
				now = plan.Decision{Name: d.Name, Decision: plan.Skip, Rung: plan.RungDefinition}
			}
			return now, err
		},
	}
}
