package planner

import (
	"context"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/affected"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/schemafilter"
	"github.com/app-sre/prcheck/settings"
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

// isBelieved tells whether a skip rests on the word of the definition alone: that the
// integration depends on no other schemas than those that it may read. A run of the same
// command that passed has shown it, and strict settings make sure of it.
func (l *ladder) isBelieved(o schemafilter.Outcome, c plan.Conclusion) bool {
	if l.isUnread(o.Name, c) {
		return true
	}
	if c.Action != plan.Skip || c.Rung != plan.RungSchema || l.hasState(o.Name) || l.Settings.For(o.Name).Strict {
		return false
	}
	switch c.Reason.Code {
	case plan.CodeNoAllowedFile, plan.CodeNoSchemas, plan.CodeAllIgnored:
	case plan.CodeOnlyMetadata:
		if len(l.diff.Backrefs) == 0 {
			return false
		}
	default:
		return false // both bundles say the same to everybody
	}
	return l.Dependences == nil || !l.hasPassed(o)
}

// isUnread tells whether a skip rests on the belief that a program which nobody has recorded yet
// reads none of the files that changed.
func (l *ladder) isUnread(name string, c plan.Conclusion) bool {
	return l.Edits.Unread != nil && c.Action == plan.Skip && c.Rung != plan.RungDefinition &&
		c.Reason.Code != plan.CodeSameAnswers && c.Reason.Code != plan.CodeAllShardsProven && l.Edits.Unread(name)
}

// hasPassed tells whether a run of the integration as a whole, or one of each of its
// shards, passed with the command that it has now.
func (l *ladder) hasPassed(o schemafilter.Outcome) bool {
	passed := func(p part) bool {
		return l.Dependences.Passed(o.Name, l.tasks.build(o, taskName(o.Name), p).Command)
	}
	if passed(part{}) {
		return true
	}
	shards := l.Settings.For(o.Name).Shards
	if shards == nil {
		return false
	}
	parts := l.divider.byStrategy(o, shards.Strategy).parts
	for _, p := range parts {
		if !passed(p) {
			return false
		}
	}
	return len(parts) > 0
}

// Skipped returns the units of work that a plan leaves out, as tasks of full runs, in plan
// order. The input must be that of the plan. It leaves out what cannot run on both sides:
// integrations that are disabled or have no pr_check, that one side does not define, whose
// tasks cannot be started, or whose settings say that they never run on base. Shards that
// nobody can list are left out as well.
func Skipped(ctx context.Context, in Input, p *plan.Plan) ([]plan.Skipped, error) {
	if err := CheckInput(in, p); err != nil {
		return nil, err
	}
	l, err := newLadder(in)
	if err != nil {
		return nil, err
	}
	var out []plan.Skipped
	for _, o := range l.outcomes() {
		d, ok := p.Decision(o.Name)
		if !ok || d.Decision == plan.Skip && d.Rung == plan.RungDefinition || d.Code == plan.CodeSameBundle ||
			o.Use.Check == nil || o.FromHead() || o.Head == nil || in.Settings.For(o.Name).NoBaseline {
			continue
		}
		out = append(out, l.skipped(ctx, o, d)...)
	}
	return out, ctx.Err()
}

// skipped returns the units that a decision about an integration leaves out. They do all
// their work: whatever its conditions say, they do not end early.
func (l *ladder) skipped(ctx context.Context, o schemafilter.Outcome, d plan.Decision) []plan.Skipped {
	var out []plan.Skipped
	o.Decided = false
	add := func(w work, rung plan.Rung) {
		for _, u := range l.tasks.units(o, w) {
			if u.task.Blocked == "" && !slices.Contains(d.Tasks, u.task.ID) {
				out = append(out, plan.Skipped{Task: u.task, Rung: rung, Passed: rung == plan.RungResult || isByTrace(d.Code)})
			}
		}
	}
	keys := d.Evidence.Keys
	switch {
	case d.Decision == plan.Skip && d.Rung != plan.RungResult:
		add(l.divider.fullRun(ctx, o), d.Rung)
		return out
	case len(keys) > 0 && d.Decision != plan.Run: // these shards are left, and the others are proven
		add(work{prefix: taskName(o.Name), parts: l.divider.shards(o, keys)}, plan.RungResult)
		add(work{prefix: taskName(o.Name), parts: l.otherShards(ctx, o, keys)}, plan.RungShards)
		return out
	}
	add(l.divider.fullRun(ctx, o), plan.RungResult)
	return out
}

// isByTrace tells whether a decision leaves out what traces of earlier runs prove.
func isByTrace(c plan.Code) bool {
	return c == plan.CodeSameAnswers || c == plan.CodeAllShardsProven || c == plan.CodeSomeShardsProven
}

// otherShards returns the parts of all shards but some; none if the shards are not known.
func (l *ladder) otherShards(ctx context.Context, o schemafilter.Outcome, keys []string) []part {
	var all []part
	subject, hasState := l.subjects[o.Name]
	shards := l.Settings.For(o.Name).Shards
	switch {
	case shards != nil && shards.Strategy != settings.StrategyNone:
		all = l.divider.byStrategy(o, shards.Strategy).parts
	case hasState && subject.Shards != nil:
		known, _ := l.comparison.ShardKeys(ctx, subject)
		all = partsOf(known)
	}
	return slices.DeleteFunc(slices.Clone(all), func(p part) bool {
		return p.shard == "" || slices.Contains(keys, p.shard)
	})
}

// distrusted returns the rungs that are not believed about an integration, with the reasons.
func distrusted(d Distrust, integration string) map[plan.Rung]string {
	if d == nil {
		return nil
	}
	return d.Distrusted(integration)
}

// withDistrust returns a conclusion that runs the integration in full if the rung that
// concluded is not believed about it. Its tasks then leave nothing out themselves. A rung that
// runs the integration in full is always believed, and so is that two bundles are the same.
func (l *ladder) withDistrust(o schemafilter.Outcome, c plan.Conclusion) (schemafilter.Outcome, plan.Conclusion) {
	why, isDistrusted := distrusted(l.Distrust, o.Name)[c.Rung]
	if !isDistrusted || c.Action == plan.Run || c.Rung == plan.RungDefinition || c.Reason.Code == plan.CodeSameBundle {
		return o, c
	}
	o.Decided = false
	reason := plan.Reason{Code: plan.CodeDistrusted, Names: []string{string(c.Rung)}, Text: why}
	return o, c.Then(plan.Conclusion{
		Action: plan.Run, Rung: c.Rung, Reason: reason, Remarks: c.Reasons(),
		Evidence: plan.Evidence{Doubts: []string{reason.String()}},
	})
}
