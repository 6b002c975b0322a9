package pipelines

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/ledger"
	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
	"github.com/app-sre/prcheck/natives/saas/pipelines/loop"
	"github.com/app-sre/prcheck/natives/saas/promotion"
)

// A deployment of ours notes its end in the ledger. One of another program does not, so the loop that started it does,
// when it sees the end.

// noteRuns notes the runs that ended.
func (a *asker) noteRuns(ctx context.Context, act *integration.Actors, at *scene, out []loop.Outcome) []error {
	if a.records == nil || act.Bucket == nil {
		return nil
	}
	var errs []error
	for _, o := range out {
		if o.Ended == nil {
			continue
		}
		for _, t := range at.cells[o.Cell].Targets {
			commit := commitOfIntent(o.Ended, t)
			if t.Promotion == nil || t.Delete || commit == "" {
				continue
			}
			if err := a.noteRun(ctx, act, t, commit, o); err != nil {
				errs = append(errs, fmt.Errorf("%s: noting the end of its run: %w", t.Label(), err))
			}
		}
	}
	return errs
}

// noteRun notes the end of a run of a target, unless the deployment did.
func (a *asker) noteRun(ctx context.Context, act *integration.Actors, t *saas.Target, commit string,
	o loop.Outcome) error {
	bucket, err := act.Bucket(ctx, a.settings.Records)
	if err != nil {
		return err
	}
	run := promotion.RunOf(a.settings.Settings, t, commit, o.Result == decide.Succeeded, a.env.Now())
	if o.Result == "" {
		run.Result = ledger.Ended
	}
	return promotion.BookOnce(ctx, bucket, t, run, o.Ended.Since)
}

// commitOfIntent returns the commit that an intent brought to a target, "" if it brought none or does not tell.
func commitOfIntent(it *decide.Intent, t *saas.Target) string {
	values, ok := it.Holds[t.UID()]
	if !ok {
		return ""
	}
	if c := values[decide.Commit]; saas.IsCommit(c) {
		return c
	}
	var content struct {
		Ref string `json:"ref"`
	}
	if err := json.Unmarshal(it.Configs[t.UID()], &content); err != nil || !saas.IsCommit(content.Ref) {
		return ""
	}
	return content.Ref
}
