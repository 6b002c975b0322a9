package planner

import (
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state/trains"
)

// A train follows what becomes of the results of the own pipeline of a merge request in the plan
// of its merge train. It only reads what the rung result decided.
type train struct {
	of   *plan.MergeRequest
	own  *trains.Pipeline      // nil if nothing is to be told
	now  map[taskKey]plan.Task // the tasks of the plan, and those that the rung result left out
	hold map[taskKey]bool      // the latter
}

// A taskKey identifies a task in plans of different changes.
type taskKey struct{ integration, label string }

func newTrain(in Input) *train {
	t := &train{of: in.MergeRequest, now: map[taskKey]plan.Task{}, hold: map[taskKey]bool{}}
	if t.of != nil && t.of.InTrain {
		t.own = in.Own
	}
	return t
}

// note notes which tasks of an integration run and which were left out because they passed.
func (t *train) note(integration string, r reuse) {
	if t.own == nil {
		return
	}
	for _, e := range r.passed {
		key := taskKey{integration, e.Shard}
		t.now[key], t.hold[key] = plan.Task{Inputs: e.Inputs}, true
	}
	for _, u := range r.left {
		t.now[taskKey{integration, u.task.Label()}] = u.task
	}
}

// mergeRequest returns what the plan says about its merge request, once all integrations were
// noted.
func (t *train) mergeRequest(p *plan.Plan) *plan.MergeRequest {
	if t.of == nil {
		return nil
	}
	out := *t.of
	out.Train = nil
	if t.own == nil {
		return &out
	}
	rungs := map[string]plan.Rung{}
	for _, d := range p.Integrations {
		rungs[d.Name] = d.Rung
	}
	out.Train = &plan.Train{Results: len(t.own.Passed)}
	for _, passed := range t.own.Passed {
		key := taskKey{passed.Integration, passed.Shard}
		if t.hold[key] && t.now[key].Inputs == passed.Inputs {
			out.Train.Hold++
			continue
		}
		out.Train.Add(passed.Integration, passed.Shard, t.whyMoved(passed, rungs[passed.Integration]))
	}
	return &out
}

// whyMoved returns why a result does not hold. The rung is the one that decided about its
// integration, "" if neither side defines it.
func (t *train) whyMoved(passed trains.Passed, rung plan.Rung) plan.Reason {
	now, isLeft := t.now[taskKey{passed.Integration, passed.Shard}]
	switch {
	case !isLeft && rung == "":
		return plan.Reason{Code: plan.CodeNotNeeded, Names: []string{string(plan.RungDefinition)}}
	case !isLeft:
		return plan.Reason{Code: plan.CodeNotNeeded, Names: []string{string(rung)}}
	case now.Inputs == passed.Inputs:
		return plan.Reason{Code: plan.CodeOldResult}
	case now.Command != "" && passed.Command != "" && now.Command != passed.Command:
		return plan.Reason{Code: plan.CodeOtherCommand}
	case t.of.Commit != t.own.Commit:
		return plan.Reason{Code: plan.CodeOwnCommits}
	}
	return plan.Reason{Code: plan.CodeOthersChanged}
}
