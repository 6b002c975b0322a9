package native

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/lease"
)

// leaseTTL is how long the lease of a dead run is kept. A step that runs when the lease is lost
// has half of it to end.
const leaseTTL = time.Minute

// leaseWait is how long a part waits for a lease, if the environment says nothing.
const leaseWait = 2 * time.Minute

// A group are units that are written under one lease.
type group struct {
	lease string
	units []*unit
}

// groups returns units by their leases, in the order of the units.
func (w *work) groups(units []*unit) []*group {
	var out []*group
	at := map[string]*group{}
	for _, u := range units {
		name := w.leaseOf(u.part)
		g := at[name]
		if g == nil {
			g = &group{lease: name}
			at[name], out = g, append(out, g)
		}
		g.units = append(g.units, u)
	}
	return out
}

// leaseOf returns the key of the lease of a part. Static shards of one part write to different
// things, so they do not wait for each other.
func (w *work) leaseOf(p Part) string {
	kind, name, static := "lease", p.Lease, ""
	if name == "" {
		kind, name, static = "part", cmp.Or(p.Shard, p.Caller, p.At), w.env.Static.String()
	}
	id := state.Name(p.Lease)
	if p.Lease == "" {
		id = p.name(static)
	}
	return "write/" + kind + "/" + strings.ToValidUTF8(name[:min(len(name), 100)], "") + "/" + id
}

// hasWork reports whether a plan writes to the system or forgets something.
func hasWork(p *reconcile.Plan) bool {
	return slices.ContainsFunc(p.Steps, func(s reconcile.Step) bool {
		return s.Action.Writes() || s.Action == reconcile.Forget
	})
}

// errBusy says that another run holds a lease.
var errBusy = reconcile.Transient(errors.New("another run writes to it; the next run goes on"))

// executeGroup does the plans of a group while it holds its lease. It returns the error of each
// unit.
func (w *work) executeGroup(ctx context.Context, g *group, act integration.Actors, workers int) []error {
	var out []error
	do := func(ctx context.Context) error {
		out = each(ctx, len(g.units), workers, func(ctx context.Context, i, workers int) error {
			return w.execute(ctx, g.units[i], act, workers)
		})
		return nil
	}
	needs := func(u *unit) bool { return u.plan != nil && hasWork(u.plan) }
	if act.State == nil || !slices.ContainsFunc(g.units, needs) {
		_ = do(ctx) // it returns no error
		return out
	}
	waiting, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	patience := time.AfterFunc(cmp.Or(w.env.Wait, leaseWait), func() { giveUp(errBusy) })
	defer patience.Stop()
	err := lease.Hold(waiting, act.State, []lease.Limit{{Key: g.lease, Max: 1, TTL: leaseTTL}},
		func(ctx context.Context) error {
			if !patience.Stop() {
				return errBusy
			}
			_ = do(ctx) // it returns no error
			if cause := context.Cause(ctx); errors.Is(cause, lease.ErrLost) {
				return cause
			}
			return nil
		})
	if err == nil {
		return out
	}
	if !errors.Is(err, errBusy) {
		err = reconcile.Transient(fmt.Errorf("holding the lease of what is written: %w", err))
	}
	if out == nil {
		out = make([]error, len(g.units))
	}
	for i, u := range g.units {
		if needs(u) {
			out[i] = reconcile.Join(out[i], err)
		}
	}
	return out
}
