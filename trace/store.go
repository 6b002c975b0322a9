package trace

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/state"
)

// maxTraces is how many traces of one subject are kept. There are several because open
// merge requests have different bundles.
const maxTraces = 4

// A Store keeps traces between runs. Several processes may use one at once.
type Store struct{ in state.Store }

// NewStore returns a store that keeps traces in a state.
func NewStore(in state.Store) Store { return Store{in} }

// folder returns the folder for all traces of an integration.
func folder(integration string) string { return "traces/" + state.Name(integration) }

// prefix returns what the names of all traces of a subject begin with.
func prefix(of TaskKey) string { return state.Name(of.Command, of.Shard) + "-" }

// Save writes a trace, and removes the oldest traces of its subject if there are too many.
func (s Store) Save(ctx context.Context, t *Trace) error {
	raw, err := t.marshal()
	if err != nil {
		return err
	}
	key := folder(t.Integration) + "/" + prefix(t.TaskKey) + state.Name(t.Digest) + ".json"
	if err := s.in.Write(ctx, key, raw); err != nil {
		return fmt.Errorf("remembering the trace of %q: %w", t.Integration, err)
	}
	if err := s.keepPromise(ctx, t.Integration, t.Recorded); err != nil {
		return err
	}
	list, err := s.list(ctx, t.Integration, prefix(t.TaskKey))
	if err != nil {
		return err
	}
	others := 0
	for _, e := range list {
		if e.Key == key {
			continue
		}
		if others++; others >= maxTraces {
			if err := s.in.Discard(ctx, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// list lists the traces of an integration whose names begin with a prefix, the newest
// first.
func (s Store) list(ctx context.Context, integration, prefix string) ([]state.Entry, error) {
	list, err := s.in.List(ctx, folder(integration))
	return slices.DeleteFunc(list, func(e state.Entry) bool {
		return !strings.HasPrefix(path.Base(e.Key), prefix)
	}), err
}

// Load returns the traces of a subject, the newest first. For each trace that cannot be
// read, ignored has a sentence. Corrupt traces are set aside. A trace of an earlier version
// of the program, for which base and head were one bundle of one name, is ignored: its task
// may have ended at once because of that.
func (s Store) Load(ctx context.Context, of TaskKey) (traces []*Trace, ignored []string) {
	traces, ignored = s.load(ctx, of.Integration, prefix(of), func(t *Trace) bool { return t.TaskKey == of })
	hasOneName := func(t *Trace) bool { return t.Base == t.Head && t.Base != "" }
	if slices.ContainsFunc(traces, hasOneName) {
		ignored = append(ignored, fmt.Sprintf("a trace of %q is not used: base and head were one bundle; record it again",
			of.Integration))
	}
	return slices.DeleteFunc(traces, hasOneName), ignored
}

// All returns the traces of an integration with any command and shard, like [Store.Load].
func (s Store) All(ctx context.Context, integration string) (traces []*Trace, ignored []string) {
	return s.load(ctx, integration, "", func(t *Trace) bool { return t.Integration == integration })
}

// load reads traces. A trace that is not mine was written under a wrong name.
func (s Store) load(ctx context.Context, integration, prefix string,
	mine func(*Trace) bool) (traces []*Trace, ignored []string) {
	list, err := s.list(ctx, integration, prefix)
	if err != nil {
		return nil, []string{fmt.Sprintf("the traces of %q are not used: %v", integration, err)}
	}
	for i, r := range s.readAll(ctx, list) {
		t, err := r.trace, r.err
		if errors.Is(err, state.ErrNotFound) || errors.Is(err, state.ErrUntrusted) {
			continue // another process removed it since it was listed, or it does not count
		}
		if err == nil && !mine(t) {
			err = errors.New("it belongs to another task")
		}
		if err != nil {
			ignored = append(ignored, fmt.Sprintf("a trace of %q is not used: %v (%s)", integration, err,
				path.Base(list[i].Key)))
			continue
		}
		traces = append(traces, t)
	}
	slices.SortStableFunc(traces, func(a, b *Trace) int { return b.Recorded.Compare(a.Recorded) })
	return traces, ignored
}

// readersAtOnce is how many traces are read at once, because a bucket answers slowly.
const readersAtOnce = 8

// A reading is a trace, or why it could not be read.
type reading struct {
	trace *Trace
	err   error
}

// readAll reads the traces of a list, and returns them in its order.
func (s Store) readAll(ctx context.Context, list []state.Entry) []reading {
	out := make([]reading, len(list))
	for first := 0; first < len(list); first += readersAtOnce {
		var batch sync.WaitGroup
		for i := first; i < min(first+readersAtOnce, len(list)); i++ {
			batch.Go(func() { out[i].trace, out[i].err = s.read(ctx, list[i]) })
		}
		batch.Wait()
	}
	return out
}

// read reads a trace. A corrupt trace is set aside if the state can be written, so that it
// is reported only once.
func (s Store) read(ctx context.Context, e state.Entry) (*Trace, error) {
	raw, err := s.in.Read(ctx, e.Key)
	if err != nil {
		return nil, err
	}
	t, err := kind.Decode(raw)
	if errors.Is(err, state.ErrCorrupt) && s.in.Discard(ctx, e) == nil {
		_ = state.SetAside(ctx, s.in, e.Key, raw, err) // the trace is removed and reported even without a copy
	}
	return t, err
}

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
