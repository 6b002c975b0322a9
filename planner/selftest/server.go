package selftest

import (
	"context"
	"fmt"

	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/planner/peer"
)

// checkServer asks the server of the options what the skips of the real plan rest on. It is no
// law of the planner alone, and no variant is made: the server has these two bundles only.
func (t *tester) checkServer(ctx context.Context) (Result, error) {
	r := Result{
		Law: "server", Says: "a running qontract-server gives the answers on which skips rest",
		Conditions: "the server has loaded both bundle files, and is not prcheck itself", Status: Held,
	}
	p, err := t.Make(ctx, t.in)
	if err != nil {
		return r, err
	}
	proven, err := planner.Verify(ctx, t.in, p)
	if err != nil {
		return r, fmt.Errorf("law %s: %w", r.Law, err)
	}
	r.Server, err = peer.Ask(ctx, peer.Input{Server: t.Server, Base: t.in.Base, Head: t.in.Head,
		Questions: proven.Questions, Progress: t.Progress})
	if err != nil {
		return r, err
	}
	r.Checked, r.Why = r.Server.Asked, r.Server.Numbers()
	switch a := r.Server; {
	case a.Different > 0:
		d := a.Differences[0]
		r.Status = Broken
		r.Counterexample = &Counterexample{Integration: d.Integrations[0], What: d.Sentence(),
			Changes: changedFiles(t.in.Base, t.in.Head)}
	case a.NotAsked > 0:
		r.Status = NotAsked
		r.Why += ": " + a.Silences[0].Why
	case a.Asked == 0:
		r.Status, r.Why = NotApplicable, "no skip rests on the answer to a query"
	}
	return r, nil
}
