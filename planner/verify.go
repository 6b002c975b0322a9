package planner

import (
	"context"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/affected"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/schemafilter"
)

// A Gap is a decision that could not be proven.
type Gap struct {
	Integration string
	Why         string
}

// Verify replays every decision of a plan in which something is left out: the
// first rungs as they are, the desired states evaluated as a whole on both
// sides instead of only where the change can reach. It returns the decisions
// that leave out more than that allows, or have no task for what they do not. That a
// task passed with the same inputs must be remembered; how fresh that was is not
// known any more.
func Verify(ctx context.Context, in Input, p *plan.Plan) ([]Gap, error) {
	for _, s := range []struct {
		side      string
		have, was string
	}{
		{"base", in.Base.SHA256(), p.Base.SHA256},
		{"head", in.Head.SHA256(), p.Head.SHA256},
		{"settings", in.Settings.Digest(), p.Config},
	} {
		if s.have != s.was {
			return nil, fmt.Errorf("%s: not what the plan was made from: its sha256 is %q, the plan's %q", s.side, s.have, s.was)
		}
	}
	m, err := newMaker(in)
	if err != nil {
		return nil, err
	}
	m.world.Thorough()
	m.anyAge = true
	var gaps []Gap
	for _, o := range m.outcomes() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d, ok := p.Decision(o.Name)
		if !ok {
			gaps = append(gaps, Gap{o.Name, "the plan says nothing about it"})
			continue
		}
		if why := m.unproven(ctx, o, p, d); why != "" {
			gaps = append(gaps, Gap{o.Name, why})
		}
	}
	return gaps, ctx.Err()
}

func (m *maker) outcomes() []schemafilter.Outcome {
	return schemafilter.Filter(schemafilter.Input{
		Base: m.base, Head: m.head, Settings: m.Settings,
		Changes:  schemafilter.Collect(m.Base, m.Head, m.diff, m.world.Mentions),
		Readable: m.readable,
		Edited:   m.Edits.Of,
	})
}

// unproven says why a decision does not hold, "" when it does.
func (m *maker) unproven(ctx context.Context, o schemafilter.Outcome, p *plan.Plan, d plan.Decision) string {
	if id := m.early(o, p); id != "" {
		return fmt.Sprintf("its task %q may end early, though it must run to its end", id)
	}
	have := map[part]bool{} // what its tasks cover
	for _, t := range p.Tasks {
		if t.Integration != o.Name {
			continue
		}
		if !m.starts(o, t) {
			return fmt.Sprintf("its task %q is not started as the settings and its definition say", t.ID)
		}
		have[part{shard: t.Shard, static: t.Static}] = true
	}
	if have[part{}] {
		return ""
	}
	again, subject := m.climb(ctx, o)
	lost := m.lost(ctx, o, subject, have, m.needed(ctx, o, d, again))
	planned := map[plan.Verdict]string{plan.Skip: "to be skipped", plan.Shards: "for single shards"}[d.Decision]
	switch {
	case len(lost) == 0:
		return ""
	case d.Decision == plan.Run:
		return missing(lost[0], "it must run in full")
	case again.Decision == plan.Run:
		return fmt.Sprintf("planned %s, but must run in full: %s", planned, again.Reason)
	case d.Decision == plan.Skip:
		return fmt.Sprintf("planned %s, but %s", planned, again.Reason)
	}
	return missing(lost[0], "its desired state differs")
}

// starts tells whether a task does what it says: that it is started as the one of
// its shard is.
func (m *maker) starts(o schemafilter.Outcome, t plan.Task) bool {
	p := part{shard: t.Shard, static: t.Static}
	for _, of := range m.shard(o, t.Shard) {
		p.image = of.image
	}
	want := m.task(o, taskName(o.Name), p)
	return t.Command == want.Command && slices.Equal(t.Argv, want.Argv) && slices.Equal(t.When, want.When) &&
		t.Native == want.Native && t.Blocked == want.Blocked
}

// needed lists the parts of which there must be tasks.
func (m *maker) needed(ctx context.Context, o schemafilter.Outcome, d, again plan.Decision) []part {
	switch {
	case d.Decision == plan.Run || again.Decision == plan.Run:
		if parts, _ := m.fanOut(ctx, o); len(parts) > 0 {
			return parts
		}
		return []part{{}}
	case again.Decision == plan.Shards:
		return m.only(o, again.Evidence.Keys)
	}
	return nil
}

// lost lists the needed parts that no task covers, but for those that passed with
// the same inputs. A task of another number of static shards covers none.
func (m *maker) lost(ctx context.Context, o schemafilter.Outcome, s affected.Subject, have map[part]bool, needed []part) []part {
	out := slices.DeleteFunc(slices.Clone(needed), func(p part) bool {
		return slices.ContainsFunc(p.within(), func(p part) bool { return have[part{shard: p.shard, static: p.static}] })
	})
	if len(out) == 0 || m.Results == nil {
		return out
	}
	sees := m.sees(ctx, o, s)
	passed := func(p part) bool {
		t := m.task(o, taskName(o.Name), p)
		t.Inputs = inputs(t, sees(p.shard))
		_, ok := m.passed(ctx, o, t)
		return ok
	}
	return slices.DeleteFunc(out, func(p part) bool { return slices.ContainsFunc(p.within(), passed) })
}

// within lists what covers a part: itself, the whole of its shard, and everything,
// unless that has another image. What a plan ran as a whole in doubt, verify may
// divide, since it evaluates more.
func (p part) within() []part {
	all := []part{p}
	if p.static != (plan.Fraction{}) {
		all = append(all, part{shard: p.shard, image: p.image})
	}
	if p.image == "" {
		all = append(all, part{})
	}
	return all
}

// missing says that a part has no task.
func missing(p part, why string) string {
	if p == (part{}) {
		return "there is no task for the whole of it, but " + why
	}
	return fmt.Sprintf("shard %q is left out, but %s", plan.Task{Shard: p.shard, Static: p.static}.Label(), why)
}
