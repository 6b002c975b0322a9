package planner

import (
	"context"
	"fmt"

	"github.com/app-sre/prcheck/affected"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/schemafilter"
	"github.com/app-sre/prcheck/state/dependence"
)

// A ladder decides about the integrations of one change. Each of its parts has one
// job: comparison compares desired states, traces proves skips by traces, divider
// divides integrations into parts, tasks makes the tasks of parts, inputs digests
// the inputs of tasks, and results finds tasks that passed before.
type ladder struct {
	Input
	diff       *bundle.Diff
	base, head []integration.Definition
	comparison *affected.Comparison
	subjects   map[string]affected.Subject // by integration, where the desired state can be told
	traces     *traceReader
	divider    *divider
	tasks      *taskBuilder
	inputs     *inputDigester
	results    *resultFinder
}

// newLadder reads the definitions, settings and queries of an input.
func newLadder(in Input) (*ladder, error) {
	base, err := integration.List(in.Base, in.Settings)
	if err != nil {
		return nil, fmt.Errorf("base: %w", err)
	}
	head, err := integration.List(in.Head, in.Settings)
	if err != nil {
		return nil, fmt.Errorf("head: %w", err)
	}
	l := &ladder{Input: in, diff: bundle.Compare(in.Base, in.Head), base: base, head: head}
	l.comparison = affected.NewComparison(in.Base, in.Head, l.diff,
		affected.Options{Base: in.BaseServer, Head: in.HeadServer, Memory: in.Memory})
	if err := l.comparison.CheckTypes(); err != nil {
		return nil, err
	}
	if err := checkDefinitions(in, base, head); err != nil {
		return nil, err
	}
	names := namesOf(base, head)
	if err := checkNames(in.Settings, names); err != nil {
		return nil, err
	}
	if err := integration.CheckNatives(in.Settings, in.Natives); err != nil {
		return nil, err
	}
	natives := map[string]integration.DryRunner{}
	for name := range names {
		if n, ok := integration.FindNative(in.Natives, in.Settings.For(name)); ok {
			natives[name] = n
		}
	}
	if l.subjects, err = subjects(in, natives, l.comparison); err != nil {
		return nil, err
	}
	l.tasks = &taskBuilder{
		settings: in.Settings, natives: natives, programs: in.Programs, edits: in.Edits,
		typesChanged: len(l.diff.GraphQL) > 0 || len(l.diff.Schemas) > 0,
	}
	l.divider = &divider{
		settings: in.Settings, base: in.Base, head: in.Head, comparison: l.comparison,
		subjects: l.subjects, tasks: l.tasks, names: names, known: map[string]division{},
	}
	l.traces = &traceReader{settings: in.Settings, traces: in.Traces, files: in.Files, comparison: l.comparison,
		tasks: l.tasks, divider: l.divider}
	l.inputs = newInputDigester(in, l.comparison)
	l.results = &resultFinder{settings: in.Settings, results: in.Results, distrust: in.Distrust, tasks: l.tasks,
		inputs: l.inputs}
	return l, nil
}

// outcomes asks the rungs definition and schema about every integration, in name
// order.
func (l *ladder) outcomes() []schemafilter.Outcome {
	var remembered func(string) dependence.Beyond
	if l.Dependences != nil {
		remembered = l.Dependences.Beyond
	}
	return schemafilter.Filter(schemafilter.Input{
		Base: l.base, Head: l.head, Settings: l.Settings,
		Changes:  schemafilter.Collect(l.Base, l.Head, l.diff, l.comparison.Mentions),
		HasState: l.hasState, Remembered: remembered,
		Edited: l.Edits.Of,
	})
}

// hasState tells whether the desired state of an integration can be told.
func (l *ladder) hasState(name string) bool {
	_, ok := l.subjects[name]
	return ok
}

// A climb holds the findings of the ladder about one integration.
type climb struct {
	found    plan.Conclusion  // by the rungs up to shards
	subject  affected.Subject // tells its desired state; zero when nothing does
	work     work             // the parts that are left to run
	reuse    reuse            // the tasks that passed before, and those that must run
	unusable []string         // traces that cannot be used, as warnings
}

// climb takes one integration up the ladder, which docs/how-it-works.md shows as a table. A
// rung that decides nothing leaves the integration to the next rung.
func (l *ladder) climb(ctx context.Context, o schemafilter.Outcome) climb {
	// Rungs definition and schema: has it a pr_check, did its definition change, and
	// may it read a changed file? Package schemafilter has asked them already.
	c := climb{found: o.Conclusion, subject: l.subjects[o.Name]}

	// An integration without queries and without a native desired state has its
	// traces asked. They prove a skip at the rung state or shards, or their recorded
	// queries are compared as declared queries are.
	compare, selected := !o.Decided, o.Selected
	if !l.hasState(o.Name) && l.traces.isAsked(o) {
		t := l.traces.ask(ctx, o)
		c.found, c.unusable = c.found.Then(t.conclusion), t.unusable
		c.subject, compare, selected = t.subject, t.compare, true
	}

	// Rungs fields, state and shards: do its queries read a changed field, does its
	// desired state differ, and for which shards?
	if compare {
		c.found = c.found.Then(l.comparison.Decide(ctx, c.subject, selected))
	}

	c.found.Believed = l.isBelieved(o, c.found)
	o, c.found = l.withDistrust(o, c.found)

	// Rung result: did the tasks of the work that is left pass before with the same
	// inputs?
	c.work = l.divider.divide(ctx, o, c.found)
	units := l.tasks.units(o, c.work)
	if c.found.Action != plan.Skip {
		units = append(units, l.tasks.newCommand(o)...)
	}
	c.reuse = l.results.find(ctx, o, c.subject, units)
	return c
}

// decision returns the decision about the integration, and its tasks. This is the
// one place that puts the findings of a climb together.
func (c climb) decision(name string) (plan.Decision, []plan.Task) {
	divided := plan.Conclusion{Remarks: c.work.remarks}
	var tasks []plan.Task
	for _, u := range c.reuse.left {
		tasks = append(tasks, u.task)
	}
	return c.reuse.conclude(c.found.Then(divided)).Decision(name, tasks), tasks
}
