package forge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/queue"
	"github.com/app-sre/prcheck/queue/merging"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/lease"
)

// ErrOwned is the error when another loop owns the branch. Nothing is wrong then.
var ErrOwned = errors.New("another loop owns the branch")

// Status returns the exit code of a loop that ends with an error of a round: what the row of the protocol says, and for
// all others that of a state or a forge that cannot be reached.
func Status(err error) int {
	var end *merging.EndError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, ErrOwned):
		return queue.Begin(queue.Claim{IsHeld: true}).Status
	case errors.As(err, &end):
		return end.Reaction.Status
	}
	return queue.WithoutState().Status
}

// A Round is one round of a loop that merges: it owns the branch, settles what a loop before left, walks, and merges.
type Round struct {
	Acting
	Store  state.Store // has the record
	Leases state.Store // has the lease; nil is Store
	Branch string      // with its project; names the record and the lease
	// Prove proves a request on a base: the head of the branch, or the tree of an earlier proof.
	Prove  queue.Look
	Policy queue.Policy
	Pause  time.Duration // between questions to the forge
	Wait   time.Duration // for another loop to end; 0 is not at all
}

// A Done is what a round did.
type Done struct {
	View    *View
	Outcome queue.Outcome
	Resumed *merging.Told  // what became of a merge of a loop before; nil is nothing
	Base    queue.Reaction // whether the branch still has what it had
	Told    []merging.Told
}

// shortest is how long is waited for the lease at least.
const shortest = time.Second

// Run does a round. The error is [ErrOwned] if another loop owns the branch, and a [merging.EndError] if nothing more
// may be merged. Without the state nothing is merged.
func (r *Round) Run(ctx context.Context) (done *Done, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	waiting := time.AfterFunc(max(r.Wait, shortest), func() { cancel(ErrOwned) })
	defer waiting.Stop()
	leases := r.Leases
	if leases == nil {
		leases = r.Store
	}
	limit := lease.Limit{Key: "merge-queue/" + r.Branch, Max: 1, TTL: queue.ClaimTime}
	err = lease.Hold(ctx, leases, []lease.Limit{limit}, func(ctx context.Context) error {
		waiting.Stop()
		done, err = r.act(ctx)
		return err
	})
	return done, err
}

// act does a round for a loop that has the lease.
func (r *Round) act(ctx context.Context) (*Done, error) {
	owner, err := merging.Own(ctx, r.Store, r.Branch)
	if err != nil {
		return nil, err
	}
	done := &Done{}
	if done.View, err = r.Read(ctx); err != nil {
		return done, err
	}
	r.Project = done.View.Project
	m := merging.Merger{Reader: &r.Acting, Writer: &r.Acting, Owner: owner, TreeOf: r.TreeOf, Pause: r.Pause,
		SquashOption: r.Project.SquashOption, NeedsStatus: r.Project.NeedsPipeline}
	if done.Resumed, err = m.Resume(ctx); err != nil {
		return done, err
	}
	if done.Base, err = m.Begin(ctx, done.View.Base, r.Client.IsAncestor); err != nil {
		return done, err
	}
	tree, err := r.TreeOf(ctx, done.View.Base)
	if err != nil {
		return done, fmt.Errorf("reading the tree of the branch: %w", err)
	}
	look := func(base string, request queue.Request) queue.Proof {
		if base != tree {
			return r.Prove(base, request)
		}
		p := r.Prove(done.View.Base, request)
		if p.Pair.Base == done.View.Base {
			p.Pair.Base = tree // what is proven on the head of the branch is proven on its tree
		}
		return p
	}
	done.Outcome = queue.Walk(tree, queue.Line(done.View.Requests, r.People, time.Now()), look, r.Policy)
	done.Told, err = m.Merge(ctx, merging.AcceptedOf(done.Outcome))
	return done, err
}
