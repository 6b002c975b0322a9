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

// Verify replays every decision of a plan in which something is left out. It climbs
// the ladder as [Make] does, but evaluates the desired states as a whole on both
// sides, and not only where the change can reach. It returns the decisions that
// leave out more than this allows, and the decisions without a task for a part that
// must run. A task that was left out because it passed with the same inputs must
// still be remembered, whatever its age is by now.
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
	l, err := newLadder(in, toVerify)
	if err != nil {
		return nil, err
	}
	var gaps []Gap
	for _, o := range l.outcomes() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d, ok := p.Decision(o.Name)
		if !ok {
			gaps = append(gaps, Gap{o.Name, "the plan says nothing about it"})
			continue
		}
		if why := l.gap(ctx, o, p, d); why != "" {
			gaps = append(gaps, Gap{o.Name, why})
		}
	}
	return gaps, ctx.Err()
}

// gap returns why a decision does not hold; "" when it holds.
func (l *ladder) gap(ctx context.Context, o schemafilter.Outcome, p *plan.Plan, d plan.Decision) string {
	if id := l.tasks.forbiddenEarlyExit(o, p.Tasks); id != "" {
		return fmt.Sprintf("its task %q may end early, though it must run to its end", id)
	}
	planned := map[part]bool{} // the parts that have a task
	for _, t := range p.Tasks {
		if t.Integration != o.Name {
			continue
		}
		if !l.isStartedRight(o, t) {
			return fmt.Sprintf("its task %q is not started as the settings and its definition say", t.ID)
		}
		planned[part{shard: t.Shard, static: t.Static}] = true
	}
	if planned[part{}] {
		return ""
	}
	c := l.climb(ctx, o)
	missing := l.missing(ctx, o, c, planned, l.needed(ctx, o, d, c))
	action := map[plan.Action]string{plan.Skip: "to be skipped", plan.Shards: "for single shards"}[d.Decision]
	switch {
	case len(missing) == 0:
		return ""
	case d.Decision == plan.Run:
		return noTask(missing[0], "it must run in full")
	case c.found.Action == plan.Run:
		return fmt.Sprintf("planned %s, but must run in full: %s", action, c.found.Sentence())
	case d.Decision == plan.Skip:
		return fmt.Sprintf("planned %s, but %s", action, c.found.Sentence())
	}
	return noTask(missing[0], "its desired state differs")
}

// isStartedRight tells whether a task of the plan is started as a new task of the same
// part would be.
func (l *ladder) isStartedRight(o schemafilter.Outcome, t plan.Task) bool {
	p := l.divider.withImage(o, part{shard: t.Shard, static: t.Static})
	want := l.tasks.build(o, taskName(o.Name), p)
	return t.Command == want.Command && slices.Equal(t.Argv, want.Argv) && slices.Equal(t.When, want.When) &&
		t.Native == want.Native && t.Blocked == want.Blocked
}

// needed lists the parts that need a task. A plan that says that an integration runs
// in full needs all its parts, whatever the climb found.
func (l *ladder) needed(ctx context.Context, o schemafilter.Outcome, d plan.Decision, c climb) []part {
	if d.Decision == plan.Run && c.found.Action != plan.Run {
		return l.divider.fullRun(ctx, o).parts
	}
	var out []part
	for _, u := range c.reuse.left {
		out = append(out, u.part)
	}
	return out
}

// missing lists the needed parts that no task of the plan covers, and no task that
// passed before with the same inputs. A task of another number of static shards
// covers none of them.
func (l *ladder) missing(ctx context.Context, o schemafilter.Outcome, c climb, planned map[part]bool, needed []part) []part {
	out := slices.DeleteFunc(slices.Clone(needed), func(p part) bool {
		return slices.ContainsFunc(p.coveredBy(), func(p part) bool { return planned[part{shard: p.shard, static: p.static}] })
	})
	return slices.DeleteFunc(out, func(p part) bool {
		units := l.tasks.units(o, work{prefix: taskName(o.Name), parts: p.coveredBy()})
		return len(l.results.find(ctx, o, c.subject, units).passed) > 0
	})
}

// coveredBy lists the parts that cover a part: itself, the whole of its shard, and
// the whole integration, unless the shard has another image. A plan may run the
// whole in doubt where verify, which evaluates more, divides it.
func (p part) coveredBy() []part {
	all := []part{p}
	if p.static != (plan.Fraction{}) {
		all = append(all, part{shard: p.shard, image: p.image})
	}
	if p.image == "" {
		all = append(all, part{})
	}
	return all
}

// noTask says that a part has no task, and why it needs one.
func noTask(p part, why string) string {
	if p == (part{}) {
		return "there is no task for the whole of it, but " + why
	}
	return fmt.Sprintf("shard %q is left out, but %s", plan.Task{Shard: p.shard, Static: p.static}.Label(), why)
}
