package planner_test

import (
	"slices"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
)

// refutesEdits holds that a plan that says something else about its merge train is refuted, and
// returns how many such plans it tried.
func (l *trainLaw) refutesEdits(in planner.Input, p *plan.Plan) int {
	l.Helper()
	edits := 0
	for _, edit := range []func(*plan.Train) bool{
		func(t *plan.Train) bool { t.Hold--; return t.Hold >= 0 },
		func(t *plan.Train) bool { t.Results++; return true },
		func(t *plan.Train) bool { t.Moved = t.Moved[:max(len(t.Moved)-1, 0)]; t.Hold++; return true },
		func(t *plan.Train) bool {
			t.Moved = slices.Clone(t.Moved)
			return len(t.Moved) > 0 && swap(&t.Moved[0].Code, plan.CodeOldResult)
		},
		func(t *plan.Train) bool {
			t.Moved = slices.Clone(t.Moved)
			return len(t.Moved) > 0 && swap(&t.Moved[0].Integration, "another")
		},
	} {
		bad, mr, train := clone(p), *p.MergeRequest, *p.MergeRequest.Train
		bad.MergeRequest, mr.Train = &mr, &train
		if !edit(&train) || bad.Seal() != nil {
			continue
		}
		edits++
		if gaps := verify(l.T, in, bad); len(gaps) != 1 || gaps[0].Integration != "merge_request" {
			l.Errorf("a plan with %+v instead of %+v: got gaps %v", train, *p.MergeRequest.Train, gaps)
		}
	}
	return edits
}

// swap sets a value, and reports whether it had another one.
func swap[T comparable](at *T, to T) bool {
	was := *at
	*at = to
	return was != to
}
