package planner

import (
	"context"
	"fmt"

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
// that leave out more than that allows, or have no task for what they do not.
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
	have := map[part]bool{} // what its tasks cover
	for _, t := range p.Tasks {
		if t.Integration == o.Name {
			have[part{shard: t.Shard, static: t.Static}] = true
		}
	}
	if id := m.early(o, p); id != "" {
		return fmt.Sprintf("its task %q may end early, though it must run to its end", id)
	}
	if have[part{}] {
		return ""
	}
	if d.Decision == plan.Run {
		parts, _ := m.fanOut(ctx, o)
		return missing(have, parts, "it must run in full")
	}
	again := m.climb(ctx, o)
	planned := map[plan.Verdict]string{plan.Skip: "to be skipped", plan.Shards: "for single shards"}[d.Decision]
	switch {
	case again.Decision == plan.Run:
		return fmt.Sprintf("planned %s, but must run in full: %s", planned, again.Reason)
	case again.Decision == plan.Shards && d.Decision == plan.Skip:
		return fmt.Sprintf("planned %s, but %s", planned, again.Reason)
	case again.Decision == plan.Shards:
		return missing(have, m.only(o, again.Evidence.Keys), "its desired state differs")
	}
	return ""
}

// missing names the first part that has no task. A task for a whole shard is one for
// all its static shards; one of another number of static shards is none.
func missing(have map[part]bool, parts []part, why string) string {
	if len(parts) == 0 {
		return "there is no task for the whole of it, but " + why
	}
	for _, p := range parts {
		if !have[part{shard: p.shard, static: p.static}] && !have[part{shard: p.shard}] {
			label := plan.Task{Shard: p.shard, Static: p.static}.Label()
			return fmt.Sprintf("shard %q is left out, but %s", label, why)
		}
	}
	return ""
}
