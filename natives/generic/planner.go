package generic

import (
	"context"
	"fmt"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/hooks"
	"github.com/app-sre/prcheck/natives/generic/rest"
	"github.com/app-sre/prcheck/natives/generic/threeway"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// A planner decides what a write changes, with the values of secrets.
type planner struct {
	*writing
	set  map[string]any // members of the creating request beside the desired body, by pointer
	sent any            // the desired body that was sent last, with secrets and the mark
}

// Plan implements [rest.Planner].
func (p *planner) Plan(ctx context.Context, live rest.Live) (*rest.Change, error) {
	switch {
	case live.Found && p.fresh == nil && !p.memory.is.Intended:
		return nil, fmt.Errorf("somebody made it just now: %w", reconcile.ErrConflict)
	case !live.Found && p.fresh != nil:
		return nil, fmt.Errorf("somebody deleted it just now: %w", reconcile.ErrConflict)
	case live.Found && p.fresh == nil && p.of.IsSought && p.canMark() &&
		p.markOf(p.entry, live.Body) != p.owner.Mark():
		return nil, fmt.Errorf("somebody made another one with its natural key: %w", reconcile.ErrConflict)
	}
	if err := p.isStillOurs(ctx, live); err != nil {
		return nil, err
	}
	applied, wasApplied := p.applied()
	desired, err := p.desiredNow(ctx, live)
	if err != nil {
		return nil, err
	}
	is := found{live: live}
	if p.fresh != nil {
		before, _ := p.fresh.Body.(found)
		is.leaves = before.leaves
	}
	in := p.input(desired, p.rules, applied, wasApplied, is, p.hashKey)
	if onlyMarks(p.step.Action) {
		if in.Known, err = p.full(ctx, p.env.Secret); err != nil {
			return nil, err
		}
	}
	stands := standing{}
	if live.Found && p.family.HasOperations && !onlyMarks(p.step.Action) {
		stands = standingOf(live.Body, p.memory.is)
		in.Again = stands.isFailed && !p.Clock.Fill().Now().Before(stands.next)
	}
	made := p.make(in)
	p.sent = made.Apply
	if made.Action == threeway.None && stands.isFailed {
		return nil, stands.error()
	}
	switch made.Action {
	case threeway.None:
		return nil, nil
	case threeway.Blocked:
		m := mistakeOf(made.Violations)
		return nil, reconcile.Config(fmt.Errorf("%s: %s", m.Code, m.Message))
	case threeway.Replace:
		return nil, fmt.Errorf("it changed just now, and would have to be replaced: %w", reconcile.ErrConflict)
	}
	out := rest.ChangeOf(made.Plan, p.sent, applied)
	out.IsPart = onlyMarks(p.step.Action)
	return out, nil
}

// applied returns what was applied last. For a write of the mark alone nothing counts.
func (p *planner) applied() (any, bool) {
	if onlyMarks(p.step.Action) {
		return nil, false
	}
	_, v, ok := recordOf(p.known[p.step.Key])
	if p.resumed || !ok && p.memory.is.Intended {
		return p.pending.applied()
	}
	return v, ok
}

// desiredNow returns the body to send.
func (p *planner) desiredNow(ctx context.Context, live rest.Live) (any, error) {
	if onlyMarks(p.step.Action) {
		return p.marked(map[string]any{}, live.Body, p.mark)
	}
	desired, err := p.full(ctx, p.env.Secret)
	if err != nil {
		return nil, err
	}
	if !live.Found {
		for _, at := range sortedKeys(p.set) {
			if desired, err = body.Set(desired, at, p.set[at]); err != nil {
				return nil, err
			}
		}
	}
	p.memory.is.Sent = body.Canonical(threeway.Remember(desired, p.rules, p.hashKey))
	return p.marked(desired, live.Body, p.mark)
}

// Mutate implements [rest.Planner].
func (p *planner) Mutate(ctx context.Context, s rest.Sending) (any, error) {
	q, err := p.Hooks.MutateRequest(ctx, p.hooked(p.entry, s.Live.Body),
		hooks.Request{Method: s.Method, Path: s.Path, Media: s.Media, Body: s.Body, Cleared: s.Removed})
	return q.Body, err
}

// Left implements [rest.Planner].
func (p *planner) Left(_ context.Context, live rest.Live) ([]rest.Difference, error) {
	if p.sent == nil || !live.Found {
		return nil, nil
	}
	is := found{live: live}
	if p.fresh != nil {
		before, _ := p.fresh.Body.(found)
		is.leaves = before.leaves
	}
	applied := threeway.Remember(p.sent, p.rules, p.hashKey)
	made := p.planOf(p.input(p.sent, p.rules, applied, true, is, p.hashKey))
	return rest.LeftOf(made.Plan), nil
}
