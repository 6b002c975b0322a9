package trace

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/app-sre/prcheck/state"
)

// Promises is the folder of the state for the promises of trace: static. It must never be
// collected, since a promise without its note does not count.
const Promises = "promises"

// A Promise is a note about an integration that promised to ask always the same. One
// document says whether the promise counts and whether it was broken, so that removing the
// document cannot make a broken promise count.
type Promise struct {
	Version     string    `json:"version"`
	Integration string    `json:"integration"`
	Kept        time.Time `json:"kept,omitzero"`  // when a run last recorded a trace; refreshed once a day
	Why         string    `json:"why,omitempty"`  // how the promise was broken, "" if it was not
	Found       time.Time `json:"found,omitzero"` // when that was found
}

// refreshPromise is the age from which the note of a kept promise is written again.
const refreshPromise = 24 * time.Hour

func promiseKey(integration string) string {
	return Promises + "/" + state.Name(integration) + ".json"
}

func promiseKind(integration string) state.Kind[Promise] {
	return state.Kind[Promise]{Version: Version, Valid: func(p *Promise) error {
		if p.Integration != integration {
			return errors.New("it belongs to another integration")
		}
		return nil
	}}
}

// changePromise changes the note about an integration.
func (s Store) changePromise(ctx context.Context, integration string, change func(*Promise)) error {
	warning, err := promiseKind(integration).Update(ctx, s.in, promiseKey(integration), func(p *Promise) {
		p.Version, p.Integration = Version, integration
		change(p)
	})
	if err = errors.Join(warning, err); err != nil {
		return fmt.Errorf("remembering a promise of %q: %w", integration, err)
	}
	return nil
}

// keepPromise notes that a trace was recorded. A broken promise stays broken, and a note
// that cannot be read stays as it is.
func (s Store) keepPromise(ctx context.Context, integration string, at time.Time) error {
	p, err := promiseKind(integration).Read(ctx, s.in, promiseKey(integration))
	isMissing := errors.Is(err, state.ErrNotFound) || errors.Is(err, state.ErrUntrusted)
	if err != nil && !isMissing || err == nil && (p.Why != "" || at.Sub(p.Kept) < refreshPromise) {
		return nil
	}
	return s.changePromise(ctx, integration, func(p *Promise) {
		if p.Why == "" {
			p.Kept = at.UTC().Truncate(time.Second)
		}
	})
}

// Break notes that an integration broke its promise, and moves its traces to the folder
// "aside/".
func (s Store) Break(ctx context.Context, integration, why string, at time.Time) error {
	err := s.changePromise(ctx, integration, func(p *Promise) { p.Why, p.Found = why, at.UTC().Truncate(time.Second) })
	if err != nil {
		return err
	}
	list, err := s.list(ctx, integration, "")
	if err != nil {
		return err
	}
	for _, e := range list {
		raw, err := s.in.Read(ctx, e.Key)
		if err != nil {
			continue // a trace that cannot be read is of no use to anybody
		}
		aside := "aside/" + strings.TrimPrefix(e.Key, "traces/")
		if err := errors.Join(s.in.Write(ctx, aside, raw), s.in.Remove(ctx, e.Key)); err != nil {
			return err
		}
	}
	return nil
}

// Broken returns why the promise of an integration does not count, or "" if it counts. It
// does not count if its note cannot be read, or if there are traces without a note.
func (s Store) Broken(ctx context.Context, integration string) string {
	p, err := promiseKind(integration).Read(ctx, s.in, promiseKey(integration))
	switch {
	case err == nil:
		return p.Why
	case !errors.Is(err, state.ErrNotFound) && !errors.Is(err, state.ErrUntrusted):
		return "a promise is noted, but the note cannot be read"
	}
	if list, err := s.list(ctx, integration, ""); err == nil && len(list) == 0 {
		return ""
	}
	return "there are traces, but the note about the promise is gone"
}

// Breach returns how an integration broke its promise, or "" if there is no note of that,
// or the note cannot be read.
func (s Store) Breach(ctx context.Context, integration string) string {
	p, err := promiseKind(integration).Read(ctx, s.in, promiseKey(integration))
	if err != nil {
		return ""
	}
	return p.Why
}

// Confirm notes that the promise of an integration counts again.
func (s Store) Confirm(ctx context.Context, integration string, at time.Time) error {
	return s.changePromise(ctx, integration, func(p *Promise) {
		*p = Promise{Version: Version, Integration: integration, Kept: at.UTC().Truncate(time.Second)}
	})
}
