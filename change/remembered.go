package change

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/ci/revisions"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/planner/proof"
	"github.com/app-sre/prcheck/planner/rules"
	"github.com/app-sre/prcheck/qontract/bundler"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/audits"
	"github.com/app-sre/prcheck/state/bases"
	"github.com/app-sre/prcheck/state/dependence"
	"github.com/app-sre/prcheck/state/durations"
	"github.com/app-sre/prcheck/state/history"
	"github.com/app-sre/prcheck/state/trains"
	"github.com/app-sre/prcheck/trace"
)

// openState opens what the state remembers, if there is one. What only adds work counts from any
// document.
func (c *Change) openState(ctx context.Context, env cli.Env, place string, noReuse bool) {
	if c.State == nil {
		return
	}
	c.input.Traces, c.input.Estimates = trace.NewStore(c.State), durations.NewStore(c.State).Snapshot()
	known, err := dependence.NewStore(c.State).Snapshot(ctx)
	if err != nil {
		_, _ = fmt.Fprintf(env.Stderr, "%v\n", err) // skips are believed then, and not proven
	}
	c.known, c.seen = known, known
	if any, err := ReadState(ctx, place); err == nil && any != nil {
		if seen, err := dependence.NewStore(any).Snapshot(ctx); err == nil {
			c.seen = seen
		}
	}
	if c.Settings.DistrustsMisses() {
		c.input.Distrust = misses(ctx, env, c.State)
	}
	if noReuse {
		c.input.Results = planner.NoResults{}
	}
}

// openEvidence opens what the state remembers of files that tasks read. Earlier runs count only
// as far as these are the same.
func (c *Change) openEvidence(ctx context.Context, in Inputs, at func() (rules.Workplace, error)) {
	if c.State == nil {
		return
	}
	evidence := newFileEvidence(ctx, c.State, c.Worlds, c.input.Programs, c.Settings)
	evidence.edits = c.input.Edits
	c.input.Files, c.input.Dependences = evidence, c.known.In(evidence.Same)
	if !in.NoReuse {
		c.input.Results = history.NewStore(c.State).Snapshot(time.Now()).In(evidence.Same)
	}
	if in.HasOwnState && !in.NoReuse {
		c.input.Results = lately{c.input.Results, OwnReuse}
	}
	c.input.ProofFiles = replay{evidence, at}
	c.input.Remembered = func(same func(integration, read string) bool) (proof.Results, proof.Dependences) {
		if in.NoReuse {
			return planner.NoResults{}, c.known.In(same)
		}
		return history.NewStore(c.State).Snapshot(time.Now()).In(same), c.known.In(same)
	}
}

// openTrain opens what is known of the merge request in whose pipeline the plan is made.
func (c *Change) openTrain(ctx context.Context, env cli.Env, base string) {
	c.input.MergeRequest = revisions.ReadMergeRequest(env.Getenv)
	if mr := c.input.MergeRequest; mr != nil && mr.InTrain && c.State != nil {
		c.input.Own = trains.NewStore(c.State).Last(ctx, mr.Name)
		if c.input.Own != nil {
			c.input.Others = others{ctx, c.Settings.Checkout(), c.input.Own.Base, base}
		}
	}
}

// misses returns the wrong skips that audits found. If they cannot be read, nothing is believed.
func misses(ctx context.Context, env cli.Env, remembered state.Store) audits.Snapshot {
	known, err := audits.NewStore(remembered).Snapshot(ctx)
	if err != nil {
		_, _ = fmt.Fprintf(env.Stderr, "%v, so no rung counts (audit.on_miss: distrust)\n", err) // only a message
		return audits.Unknown()
	}
	return known
}

// openMemory opens what is known of base: in the cache, and in the state.
func (c *Change) openMemory(ctx context.Context, cache string) {
	var near bases.Near
	if cache != "" {
		near = bundler.OpenCache(cache)
		c.input.Memory = near
	}
	if c.State != nil && c.server == nil {
		c.memory = bases.NewMemory(ctx, c.State, c.Base.SHA256(), near)
		c.input.Memory = c.memory
	}
}

// RememberBase works out what tasks see of base, for a change from base to itself, and writes
// it to the state. It returns of how many integrations it is known, and how many parts of it the
// state did not have.
func (c *Change) RememberBase(ctx context.Context) (known, added int, err error) {
	if c.memory == nil {
		return 0, 0, cli.Usage(errors.New("there is no state to write to, or the base is that of a running server"))
	}
	if known, err = planner.RememberBase(ctx, c.input); err != nil {
		return 0, 0, c.trouble(ctx, err)
	}
	added, err = c.memory.Save(ctx)
	return known, added, err
}
