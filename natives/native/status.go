package native

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/state"
)

// statuses is a document with how the things of a part stand.
type statuses struct {
	Version string                               `json:"version"`
	Things  map[reconcile.Key]integration.Status `json:"things"`
}

var statusKind = state.Kind[statuses]{Version: recordsVersion}

func statusKey(p Part) string { return "status/" + p.name() + ".json" }

// Status implements [integration.StatusReader]. It makes the plan of a dry run, and reads what else
// belongs to the status of a thing.
func (m made) Status(ctx context.Context, env integration.Environment) ([]integration.Status, error) {
	if m.Describe == nil {
		return nil, reconcile.Config(fmt.Errorf("the native integration %s tells no status", m.Recipe.Name))
	}
	w, err := m.open(ctx, env)
	if err != nil {
		return nil, nothingDone(err)
	}
	w.plan(ctx)
	var out []integration.Status
	var errs []error
	for _, u := range w.units {
		if u.plan == nil {
			if u.err == nil {
				w.reportUnasked(u)
			}
			continue
		}
		was, err := w.statusesBefore(ctx, u.part)
		if err != nil {
			errs = append(errs, err)
		}
		now := w.describe(ctx, u, nil, was)
		out = append(out, now...)
		errs = append(errs, unread(u), unready(u, now))
	}
	return out, w.join(errs)
}

// unread returns an error if a thing of a unit could not be read. How it stands is not known then.
func unread(u *unit) error {
	var keys []string
	for _, s := range u.plan.Steps {
		if s.Action == reconcile.Blocked && s.Code == reconcile.CodeIncomplete {
			keys = append(keys, string(s.Key))
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return reconcile.Transient(fmt.Errorf("%d of %d things could not be read, such as %s", len(keys), len(u.plan.Steps),
		keys[0]))
}

// conditionReady is the condition of a thing that works.
const conditionReady = "Ready"

// unready returns an error if a thing that should be there does not work, as far as that is known.
func unready(u *unit, now []integration.Status) error {
	goes := map[string]bool{}
	for _, s := range u.plan.Steps {
		goes[string(s.Key)] = s.Item != nil && s.Item.Delete ||
			s.Action == reconcile.Blocked && s.Code == reconcile.CodeIncomplete
	}
	var not []string
	for _, s := range now {
		for _, c := range s.Conditions {
			if c.Type == conditionReady && c.Status != integration.True && !goes[s.Key] {
				not = append(not, s.Key+" ("+c.Reason+")")
			}
		}
	}
	if len(not) == 0 {
		return nil
	}
	return reconcile.Transient(fmt.Errorf("%d of %d things are not ready, such as %s", len(not), len(now), not[0]))
}

// describe returns how the things of a unit stand. The results are those of a run; nil outside
// of one.
func (w *work) describe(ctx context.Context, u *unit, done []reconcile.Result,
	was map[reconcile.Key]integration.Status) []integration.Status {
	var named []reconcile.Step
	results := map[reconcile.Key]*reconcile.Result{}
	for i := range done {
		results[done[i].Step.Key] = &done[i]
	}
	for _, s := range u.plan.Steps {
		if s.Item != nil {
			named = append(named, s)
		}
	}
	out := make([]integration.Status, len(named))
	each(ctx, len(named), w.env.Workers, func(ctx context.Context, i, _ int) error {
		s := named[i]
		now := w.Describe(ctx, w.env, u.part, s, results[s.Key], was[s.Key])
		now.Key, now.Shard, now.File = string(s.Key), u.part.Shard, s.Place.File
		for j := range now.Conditions {
			now.Conditions[j].Since = w.since(now.Conditions[j], was[s.Key])
			now.Conditions[j].Message = w.env.Mask(now.Conditions[j].Message) // a service may repeat a secret
		}
		out[i] = now
		return nil
	})
	return out
}

// statusesBefore returns how the things of a part stood after the last run, as far as runs keep that.
func (w *work) statusesBefore(ctx context.Context, p Part) (map[reconcile.Key]integration.Status, error) {
	if w.Momentary {
		return nil, nil
	}
	return readStatuses(ctx, w.env.State, p)
}

// since returns since when a condition is as it is; zero if nobody keeps that.
func (w *work) since(c integration.Aspect, was integration.Status) time.Time {
	if w.Momentary {
		return time.Time{}
	}
	for _, old := range was.Conditions {
		if old.Type == c.Type && old.Status == c.Status && !old.Since.IsZero() {
			return old.Since
		}
	}
	return w.env.Now().UTC()
}

// readStatuses reads how the things of a part stood after the last run.
func readStatuses(ctx context.Context, s state.Store, p Part) (map[reconcile.Key]integration.Status, error) {
	if s == nil {
		return nil, nil
	}
	doc, err := statusKind.Read(ctx, s, statusKey(p))
	switch {
	case errors.Is(err, state.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, reconcile.Transient(fmt.Errorf("reading the status: %w", err))
	}
	return doc.Things, nil
}

// keepStatus remembers how the things of a unit stand after a run, if that changed.
func (w *work) keepStatus(ctx context.Context, u *unit, s state.Store, done []reconcile.Result) error {
	if w.Describe == nil || w.Momentary || s == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	was, err := readStatuses(ctx, s, u.part)
	if err != nil {
		w.say("the status of before cannot be read, and is written anew: " + err.Error())
	}
	now := map[reconcile.Key]integration.Status{}
	for _, status := range w.describe(ctx, u, done, was) {
		now[reconcile.Key(status.Key)] = status
	}
	if text(was) == text(now) {
		return nil
	}
	raw, err := json.Marshal(statuses{recordsVersion, now})
	if err != nil {
		return err
	}
	if err := s.Update(ctx, statusKey(u.part), func([]byte) ([]byte, error) { return raw, nil }); err != nil {
		return reconcile.Transient(fmt.Errorf("writing the status: %w", err))
	}
	return nil
}
