package flip

import (
	"context"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// maxTries bounds how often is decided anew.
const maxTries = 100

// A Variant is what a decision is made from, as far as it is changed.
type Variant struct {
	Base, Head *bundle.Bundle
	Settings   *settings.Settings
}

// A Case is the decision about an integration, and what it was made from.
type Case struct {
	Variant
	Decision plan.Decision
	// Decide decides anew about the integration. An error means that no plan can be made.
	Decide func(ctx context.Context, v Variant) (plan.Decision, error)
}

// Find returns the changes that would have decided otherwise. The error is that of the
// context.
func Find(ctx context.Context, c Case) (plan.Flips, error) {
	f := &finder{Case: c, diff: bundle.Compare(c.Base, c.Head), left: maxTries}
	out := plan.Flips{Known: []plan.Flip{}}
	if c.Decision.Decision == plan.Skip {
		out.Known = append(out.Known, f.enable(ctx)...)
		out.Known = append(out.Known, f.edits(ctx)...)
	} else {
		out.Known = append(out.Known, f.takeBack(ctx)...)
		out.Known = append(out.Known, f.rules(ctx)...)
	}
	if len(out.Known) == 0 {
		out.Why = "none of the changes that were tried would have decided otherwise"
	}
	return out, ctx.Err()
}

// A finder looks for flips.
type finder struct {
	Case
	diff *bundle.Diff
	left int // how many more times may be decided
}

// A trial is a set of changes that flips the decision, with the new decision.
type trial[T any] struct {
	changes  []T
	decision plan.Decision
	smallest bool
}

// try decides about a variant, and tells whether an integration that runs is skipped then, or
// the other way round.
func (f *finder) try(ctx context.Context, v Variant, err error) (plan.Decision, bool) {
	if err != nil || f.left <= 0 || ctx.Err() != nil {
		return plan.Decision{}, false
	}
	f.left--
	d, err := f.Decide(ctx, v)
	return d, err == nil && (d.Decision == plan.Skip) != (f.Decision.Decision == plan.Skip)
}

// reduce returns the smallest set of changes that it finds among those given, if all of them
// together flip the decision. Of two changes it keeps the earlier one. build makes the variant
// with some of the changes.
func reduce[T any](ctx context.Context, f *finder, all []T, build func([]T) (Variant, error)) (trial[T], bool) {
	flips := func(some []T) (plan.Decision, bool) {
		v, err := build(some)
		return f.try(ctx, v, err)
	}
	out := trial[T]{changes: all}
	d, ok := flips(all)
	if !ok || len(all) == 0 {
		return out, false
	}
	out.decision = d
	for size, dropped := (len(all)+1)/2, false; size > 0; {
		for end := len(out.changes); end > 0 && len(out.changes) > 1; end -= size {
			rest := without(out.changes, max(0, end-size), end)
			if d, ok := flips(rest); ok && len(rest) > 0 {
				out.changes, out.decision, dropped = rest, d, true
			}
		}
		switch {
		case size > 1:
			size = (size + 1) / 2
		case dropped && len(out.changes) > 1:
			dropped = false // what could not be left out before can perhaps be left out now
		default:
			size = 0
		}
	}
	out.smallest = f.left > 0 && ctx.Err() == nil
	return out, true
}

// without returns a copy of a list without the items from one index to another.
func without[T any](list []T, from, to int) []T {
	out := make([]T, 0, len(list))
	return append(append(out, list[:from]...), list[to:]...)
}

// flipOf returns a trial as a flip.
func flipOf[T any](kind plan.FlipKind, t trial[T], changes []plan.FlipChange) plan.Flip {
	return plan.Flip{
		Kind: kind, Changes: changes, Smallest: t.smallest,
		Decision: t.decision.Decision, Rung: t.decision.Rung, Code: t.decision.Code, Keys: t.decision.Evidence.Keys,
	}
}
