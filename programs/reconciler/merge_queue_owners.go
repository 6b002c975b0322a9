package reconciler

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/owners/asking"
	"github.com/app-sre/prcheck/owners/forge"
	"github.com/app-sre/prcheck/owners/review"
	"github.com/app-sre/prcheck/queue"
	"github.com/app-sre/prcheck/queue/proving"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
)

// queueApprovals asks who approved the content of rebased heads.
type queueApprovals struct {
	proofs  *proofs
	client  *ci.Client
	project int // id
}

func newQueueApprovals(ctx context.Context, p *proofs, o ci.Options) (*queueApprovals, error) {
	client, err := ci.New(o)
	if err != nil {
		return nil, err
	}
	of, err := ci.NewMergeQueue(o, p.flags.project)
	if err != nil {
		return nil, err
	}
	project, err := of.Project(ctx)
	if err == nil {
		err = client.Identify(ctx)
	}
	return &queueApprovals{p, client, project.ID}, err
}

// unapproved returns the places of a rebased head that nobody approved who may by the rules of its base. What was
// approved for another base holds if the place and both of its values are the same. If nobody may approve some place,
// the label of approval decides, as it does without change types, and only a hold keeps the request back.
func (q *queueApprovals) unapproved(ctx context.Context, r queue.Request, of proving.Asked) ([]string, error) {
	remembered, err := change.OpenState(ctx, q.proofs.env, change.StateFlag{Place: q.proofs.flags.state,
		Access: state.Reading, Settings: of.Settings, Base: of.Base, Head: of.Head})
	if err != nil {
		return nil, err
	}
	asker := asking.New(asking.Place{Env: q.proofs.env, Open: source.In(q.proofs.env).With(of.Settings),
		Forge: &forge.Forge{Client: q.client, Tool: "prcheck", MergeRequest: ci.MergeRequest{Project: q.project,
			IID: r.Number}, Pipeline: ci.Commit{Project: q.project, SHA: r.Head}},
		Dir: q.proofs.flags.repository, State: remembered, Name: fmt.Sprintf("%s!%d", q.proofs.flags.project, r.Number),
		Head: r.Head, Fetch: q.fetch})
	in, inHead, err := asker.Input(ctx, of.Base, of.Head)
	switch {
	case err != nil:
		return nil, err
	case len(inHead) > 0:
		return nil, fmt.Errorf("rules of the head cannot be used: %s%s: %s", inHead[0].File, inHead[0].Pointer,
			inHead[0].Text)
	}
	out, _, err := review.Look(ctx, in)
	switch {
	case err != nil:
		return nil, err
	case len(asker.Silent()) > 0:
		return nil, errors.New(asker.Silent()[0].String())
	case !out.IsAdmitted:
		return []string{"the change is not admitted"}, nil
	}
	var places []string
	for _, p := range out.Places {
		if p.IsHeld || out.IsCovered && !p.IsApproved { // what is not covered is for those who may label
			places = append(places, sanitize.Line(p.File.Path+" "+p.CoveredPlace.Place().String()))
		}
	}
	return places, nil
}

// fetch gets the commit of a revision of the clone.
func (q *queueApprovals) fetch(ctx context.Context, ref string) error {
	rev, _, ok := source.ParseRevision(ref)
	if !ok {
		return fmt.Errorf("%.80q is no revision", ref)
	}
	if !q.proofs.flags.noDryRun {
		return nil // a dry run takes what is there
	}
	return q.proofs.fetch(ctx, strings.TrimSpace(rev))
}
