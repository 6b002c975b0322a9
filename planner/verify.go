package planner

import (
	"context"
	"fmt"
	"slices"

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
	var shards []string // what its tasks cover; the empty one is the whole
	for _, t := range p.Tasks {
		if t.Integration == o.Name {
			shards = append(shards, t.Shard)
		}
	}
	if id := m.early(o, p); id != "" {
		return fmt.Sprintf("its task %q may end early, though it must run to its end", id)
	}
	if slices.Contains(shards, "") {
		return ""
	}
	if d.Decision == plan.Run {
		return missing(shards, m.fanOut(ctx, o), "it must run in full")
	}
	again := m.climb(ctx, o)
	planned := map[plan.Verdict]string{plan.Skip: "to be skipped", plan.Shards: "for single shards"}[d.Decision]
	switch {
	case again.Decision == plan.Run:
		return fmt.Sprintf("planned %s, but must run in full: %s", planned, again.Reason)
	case again.Decision == plan.Shards && d.Decision == plan.Skip:
		return fmt.Sprintf("planned %s, but %s", planned, again.Reason)
	case again.Decision == plan.Shards:
		return missing(shards, again.Evidence.Keys, "its desired state differs")
	}
	return ""
}

// missing names the first shard that has no task.
func missing(shards, keys []string, why string) string {
	if len(keys) == 0 {
		return "there is no task for the whole of it, but " + why
	}
	for _, k := range keys {
		if !slices.Contains(shards, k) {
			return fmt.Sprintf("shard %q is left out, but %s", k, why)
		}
	}
	return ""
}
