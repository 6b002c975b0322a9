package planner

import (
	"fmt"

	"github.com/app-sre/prcheck/plan"
)

// Task returns the task that a plan would have for an integration that must run:
// the whole of it, or one shard. The task does everything: early exit is left out of
// its conditions. Its command is that of the task in a plan, for which its trace
// counts. It is an error when no bundle of the input defines the integration, or when
// it has no pr_check to start.
func Task(in Input, name, shard string) (plan.Task, error) {
	l, err := newLadder(in)
	if err != nil {
		return plan.Task{}, err
	}
	for _, o := range l.outcomes() {
		if o.Name != name {
			continue
		}
		if o.Use.Check == nil {
			return plan.Task{}, fmt.Errorf("integration %q has no pr_check, so no plan has a task for it", name)
		}
		p := l.divider.withImage(o, part{shard: shard})
		o.Decided = false // it must not end early, or leave shards out
		t := l.tasks.build(o, taskName(name), p)
		o.Decided = true // a task of a plan may, and does no more than this one
		t.Command = l.tasks.build(o, taskName(name), p).Command
		t.Inputs = l.inputs.bundles(t)
		return t, nil
	}
	return plan.Task{}, fmt.Errorf("no bundle defines an integration named %q", name)
}
