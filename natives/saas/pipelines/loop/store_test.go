package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
	"github.com/app-sre/prcheck/natives/saas/pipelines/executor"
	"github.com/app-sre/prcheck/natives/saas/pipelines/ledger"
	"github.com/app-sre/prcheck/state"
)

// A testStore is the state of a world as [state.Store].
type testStore struct {
	*world
	stale map[string][]byte // what an unguarded store compares with
}

func (s testStore) Read(_ context.Context, key string) ([]byte, error) {
	if _, ok := s.call(); !ok {
		return nil, fmt.Errorf("%w: %w", state.ErrUnreachable, errKilled)
	}
	raw, ok := s.docs[key]
	s.stale[key] = raw
	if !ok {
		return nil, state.ErrNotFound
	}
	return raw, nil
}

func (s testStore) Update(_ context.Context, key string, change func([]byte) ([]byte, error)) error {
	effect, answer := s.call()
	old := s.docs[key]
	if s.m.unguarded {
		old = s.stale[key]
	}
	if effect {
		raw, err := change(old)
		if err != nil {
			return err
		}
		if raw != nil {
			s.writes++
			s.noteIntents(old, raw)
			if !s.m.forgetful || s.rng.IntN(4) > 0 {
				s.docs[key] = raw
			}
		}
		if raw != nil && s.rng.IntN(20) == 0 { // the answer was lost, and the store tries again
			if raw, err = change(s.docs[key]); err != nil || raw != nil {
				s.breaks("a write whose answer was lost was made again: %v", err)
			}
		}
	}
	if !answer {
		return fmt.Errorf("%w: %w", state.ErrUnreachable, errKilled)
	}
	return nil
}

func (s testStore) Write(_ context.Context, key string, raw []byte) error {
	if effect, answer := s.call(); effect {
		s.docs[key] = raw
	} else if !answer {
		return errKilled
	}
	return nil
}

func (s testStore) Remove(context.Context, string) error                { return errors.ErrUnsupported }
func (s testStore) List(context.Context, string) ([]state.Entry, error) { return nil, nil }
func (s testStore) Discard(context.Context, state.Entry) error          { return errors.ErrUnsupported }
func (w *world) breaks(format string, args ...any) {
	w.broken = append(w.broken, fmt.Sprintf(format, args...))
}
func (w *world) store() testStore                                        { return testStore{w, map[string][]byte{}} }
func (w *world) Missing(context.Context, executor.Order) (string, error) { return "", nil }
func cellOf(file, env string) string                                     { return file + "/" + env }
func (r *testRun) cell() string                                          { return cellOf(r.File, r.Environment) }
func (r *testRun) isLive() bool                                          { return r.Phase == decide.Live }
func valueKey(uid string, k decide.Kind, value string) string {
	return uid + " " + string(k) + " " + value
}
func (w *world) Runs(context.Context, executor.Place) ([]executor.CellRun, error) {
	if _, ok := w.call(); !ok {
		return nil, errKilled
	}
	var out []executor.CellRun
	for _, r := range w.runs {
		run := r.CellRun
		if w.m.noLabel {
			run.Intent = ""
		}
		if w.m.lies && run.Phase == decide.Errored {
			run.Phase = decide.Succeeded
		}
		if !w.m.blind {
			out = append(out, run)
		}
	}
	return out, nil
}

// noteIntents notes the intents that a write adds. It holds that an intent goes only after a run
// that was made for it.
func (w *world) noteIntents(old, raw []byte) {
	was, is := intentsOf(old), intentsOf(raw)
	for id, phase := range is {
		if _, wasThere := was[id]; !wasThere && phase == decide.Pending {
			w.tick++
			w.intended[id] = w.tick
		}
	}
	for id := range was {
		if _, isThere := is[id]; !isThere && w.born[id] < w.intended[id] {
			w.breaks("intent %s is done with, and no run was made for it", id)
		}
	}
}

// intentsOf returns the phases of the intents of a document, by id.
func intentsOf(raw []byte) map[string]decide.Phase {
	var doc ledger.Document
	out := map[string]decide.Phase{}
	if raw == nil || json.Unmarshal(raw, &doc) != nil {
		return out
	}
	for _, c := range doc.Cells {
		if c.Intent != nil {
			out[c.Intent.ID] = c.Intent.Phase
		}
	}
	return out
}
