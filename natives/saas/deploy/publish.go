package deploy

import (
	"context"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/saas/promotion"
	"github.com/app-sre/prcheck/plan"
)

// publish writes the records of promotions after a run of one cell, also after one that failed.
// A run that could do nothing, that was told to end, whose gate was closed, or that failed only
// because a service did not answer proves nothing: a record of it would begin the soak time anew.
func (r *run) publish(ctx context.Context, act integration.Actors, failure error) error {
	isWhole := r.isSingle() && r.env.Static == (plan.Fraction{})
	if !isWhole || len(r.head.cells) != 1 || r.head.cells[0].closed != "" || ctx.Err() != nil ||
		errors.Is(failure, integration.ErrNothingDone) {
		return nil
	}
	if failure == nil && r.hasFailed() && r.failures == r.unknown {
		// the log is for people
		_, _ = fmt.Fprintln(r.env.Log, "no record of a promotion is written: it is not known what the run deployed")
		return nil
	}
	c := r.head.cells[0]
	var places []promotion.Place
	var of []*target
	for _, t := range c.targets {
		if t.Delete || t.Promotion == nil || t.commit == "" || t.Broken != "" {
			continue
		}
		for _, channel := range t.Promotion.Publish {
			places, of = append(places, promotion.Place{Channel: channel, UID: t.UID()}), append(of, t)
		}
	}
	switch {
	case len(places) == 0 || r.settings.Records == "":
		return nil
	case act.Bucket == nil:
		return errors.New("writing the records of promotions: this program reaches no bucket")
	}
	bucket, err := act.Bucket(ctx, r.settings.Records)
	if err != nil {
		return fmt.Errorf("writing the records of promotions: %w", err)
	}
	var errs []error
	for i, at := range places {
		t := of[i]
		run := promotion.Result{Success: failure == nil && !r.hasFailed(), Saas: c.File.Name, Hash: t.Hash(), At: r.env.Now()}
		errs = append(errs, promotion.Publish(ctx, bucket, at, t.commit, run))
	}
	return errors.Join(errs...)
}
