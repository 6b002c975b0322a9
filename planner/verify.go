package planner

import (
	"context"
	"slices"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner/proof"
	"github.com/app-sre/prcheck/schemafilter"
	"github.com/app-sre/prcheck/settings"
)

// Verify replays every decision of a plan in which something is left out. What must run is
// worked out by package proof, which shares no code with the ladder. How work is divided into
// tasks and how tasks are started, and the facts that decisions show, are compared with what
// the ladder makes of the same input. A
// task that was left out because it passed with the same inputs must still be remembered,
// whatever its age is by now.
func Verify(ctx context.Context, in Input, p *plan.Plan) (proof.Report, error) {
	if err := CheckInput(in, p); err != nil {
		return proof.Report{}, err
	}
	l, err := newLadder(in)
	if err != nil {
		return proof.Report{}, err
	}
	starter := starter{l, map[string]schemafilter.Outcome{}}
	for _, o := range l.outcomes() {
		starter.outcomes[o.Name] = o
	}
	r, err := proof.Check(ctx, starter.proofInput(), p)
	if err != nil {
		return r, err
	}
	return r, starter.refuteEvidence(ctx, p, &r)
}

// A starter tells a proof how work is divided into tasks, and how these are started.
type starter struct {
	*ladder
	outcomes map[string]schemafilter.Outcome
}

// proofInput returns what a proof rests on.
func (s starter) proofInput() proof.Input {
	in := proof.Input{
		Base: s.Base, Head: s.Head, Settings: s.Settings, ReadQuery: s.ReadQuery, Natives: s.Natives, Edited: s.Edits.Of,
		Tasks:       s,
		Dependences: s.Dependences, Traces: s.Traces, Results: s.Results,
		Files: s.ProofFiles, OnlyFiles: s.Edits.OnlyFiles, Unread: s.Edits.Unread, Remembered: s.Remembered,
	}
	if s.BaseServer != nil && s.HeadServer != nil {
		in.BaseServer, in.HeadServer = s.BaseServer, s.HeadServer
	}
	return in
}

// Full returns the tasks of a full run.
func (s starter) Full(ctx context.Context, name string) []plan.Task {
	o := s.outcomes[name]
	return s.built(o, s.divider.fullRun(ctx, o).parts)
}

// Divided returns the tasks of all shards of an integration that a strategy divides.
func (s starter) Divided(name string) []plan.Task {
	o := s.outcomes[name]
	shards := s.Settings.For(name).Shards
	if shards == nil || shards.Strategy == settings.StrategyNone {
		return nil
	}
	return s.built(o, s.divider.byStrategy(o, shards.Strategy).parts)
}

// Task returns the task of a shard, or of the whole integration.
func (s starter) Task(name, shard string) plan.Task {
	o := s.outcomes[name]
	return s.built(o, []part{s.divider.withImage(o, part{shard: shard})})[0]
}

// Unknown tells why the command of a task is not known entirely.
func (s starter) Unknown(t plan.Task) string { return s.tasks.unknownCommand(t).String() }

// IsStartedRight tells whether a task of the plan is started as a new task of the same part
// would be.
func (s starter) IsStartedRight(t plan.Task) bool {
	o := s.outcomes[t.Integration]
	want := s.built(o, []part{s.divider.withImage(o, part{shard: t.Shard, static: t.Static})})[0]
	return t.Command == want.Command && slices.Equal(t.Argv, want.Argv) && slices.Equal(t.When, want.When) &&
		t.Native == want.Native && t.Blocked == want.Blocked && t.Order == want.Order && t.Timeout == want.Timeout &&
		t.Memory == want.Memory
}

// built makes the tasks of parts.
func (s starter) built(o schemafilter.Outcome, parts []part) []plan.Task {
	var out []plan.Task
	for _, u := range s.tasks.units(o, work{prefix: taskName(o.Name), parts: parts}) {
		out = append(out, u.task)
	}
	return out
}
