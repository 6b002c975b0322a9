package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
)

// NoState is the value of --state with which a checkout has no state of its own either.
const NoState = "none"

// OwnReuse is for how long a result of the checkout's own state counts at most.
const OwnReuse = 10 * time.Minute

// OwnStateSize is how many bytes the state of one checkout may have when it is collected.
const OwnStateSize = 200 << 20

// WithOwnState returns the inputs with the state that the checkout of head has in the user's cache. The
// inputs stay as they are in a job, without a cache, if head is no checkout, and if the cache
// lies in a checkout, where anybody could have written to it.
func (in Inputs) WithOwnState(ctx context.Context, env cli.Env) Inputs {
	cache := source.CacheFolder(env.Getenv)
	if in.NoCache || cache == "" || InJob(env.Getenv) || !source.IsCheckout(in.Head) {
		return in
	}
	repo, err := git.FindRepository(ctx, source.RootOf(in.Head))
	if err != nil {
		return in
	}
	place := source.StateOf(cache, repo.Root())
	if liesInCheckout(place) {
		return in
	}
	in.State, in.HasOwnState = place, true
	return in
}

// openState opens the state that the inputs name.
func (in Inputs) openState(ctx context.Context, env cli.Env, settings source.OpenedSettings) (state.Store, error) {
	if in.HasOwnState {
		return openOwnState(env, in.State), nil
	}
	return TryState(ctx, env, StateFlag{Place: in.State, Access: in.Access, Settings: settings, Base: in.Base,
		Head: in.Head})
}

// openOwnState opens the state of a checkout; nil if it cannot be read. Nothing depends on it: if it
// cannot be read or written, a line on stderr says so.
func openOwnState(env cli.Env, place string) state.Store {
	say := func(what string, err error) {
		// the run goes on
		_, _ = fmt.Fprintf(env.Stderr, "warning: %s: %s (--state none does without)\n", what, sanitize.Line(err.Error()))
	}
	s, err := state.OpenLoose(place)
	if err == nil {
		if _, err = os.ReadDir(place); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		say("the state of this checkout is not used", err)
		return nil
	}
	kept := state.Expendable(s, func(err error) { say("nothing new is remembered of this checkout", err) })
	return state.Trusted(kept, state.Trust{Unsigned: true})
}

// lately are results of which only those of a short time count.
type lately struct {
	planner.Results
	within time.Duration
}

// Passed implements [planner.Results].
func (l lately) Passed(ctx context.Context, t plan.Task, within time.Duration) (began time.Time, ok bool) {
	return l.Results.Passed(ctx, t, min(within, l.within))
}

// LastEffects implements [planner.Results].
func (l lately) LastEffects(ctx context.Context, t plan.Task, within time.Duration,
	rules string) (found *plan.Effects, began time.Time) {
	return l.Results.LastEffects(ctx, t, min(within, l.within), rules)
}
