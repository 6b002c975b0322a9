package change

import (
	"context"
	"errors"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/live"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/dependence"
	"github.com/app-sre/prcheck/state/history"
	"github.com/app-sre/prcheck/trace"
)

// A Planned is a plan with everything that it was made from, opened again.
type Planned struct {
	Plan       *plan.Plan
	Base, Head *bundle.Bundle
	Settings   source.OpenedSettings
	State      state.Store // nil when nothing is remembered
	Own        source.Own  // what the command writes
	Open       source.Opener
	Worlds     Worlds
	Natives    []integration.DryRunner // the integrations that are part of the program
}

// Input returns the input that a plan was made from, as far as audits need it. The state has
// changed since, so that other decisions may follow from it. Bundles of a running server are
// an error, because only the server can answer queries over them.
func (p Planned) Input(ctx context.Context) (planner.Input, error) {
	if live.IsRef(p.Plan.Base.Ref) || live.IsRef(p.Plan.Head.Ref) {
		return planner.Input{}, cli.Invalid(errors.New("a plan over the bundles of a running server cannot be audited"))
	}
	in := planner.Input{
		Base: p.Base, Head: p.Head, BaseRef: p.Plan.Base.Ref, HeadRef: p.Plan.Head.Ref, Settings: p.Settings.Settings,
		ReadQuery: p.Settings.ReadQuery, Natives: p.Natives, Programs: Programs(ctx, p.Open, p.Settings, p.Worlds.Head,
			p.Own),
	}
	if p.State != nil {
		known, err := dependence.NewStore(p.State).Snapshot(ctx)
		if err != nil {
			return in, err
		}
		evidence := newFileEvidence(ctx, p.State, p.Worlds, in.Programs, p.Settings.Settings)
		in.Files, in.Dependences, in.Traces = evidence, known.In(evidence.Same), trace.NewStore(p.State)
		in.Results = history.NewStore(p.State).Snapshot(time.Now()).In(evidence.Same)
	}
	return in, nil
}
