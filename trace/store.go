package trace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/state"
)

// keep is how many traces of one subject are remembered: several merge requests
// that are open at once see different worlds.
const keep = 4

// Breaches is the folder of the state that keeps broken promises. Forgetting one
// would restore trust.
const Breaches = "breaches"

// A Store keeps traces between runs. Several processes may use one at once.
type Store struct{ in state.Store }

// NewStore keeps traces in a folder of the state.
func NewStore(in state.Store) Store { return Store{in} }

// folder holds all traces of an integration.
func folder(integration string) string { return "traces/" + state.Name(integration) }

func prefix(of Subject) string { return state.Name(of.Command, of.Shard) + "-" }

// Save remembers a trace. Of its subject the newest few are kept.
func (s Store) Save(ctx context.Context, t *Trace) error {
	raw, err := t.marshal()
	if err != nil {
		return err
	}
	key := folder(t.Integration) + "/" + prefix(t.Subject) + state.Name(t.Digest) + ".json"
	if err := s.in.Write(ctx, key, raw); err != nil {
		return fmt.Errorf("remembering the trace of %q: %w", t.Integration, err)
	}
	list, err := s.list(ctx, t.Integration, prefix(t.Subject))
	if err != nil {
		return err
	}
	others := 0
	for _, e := range list {
		if e.Key == key {
			continue
		}
		if others++; others >= keep {
			if err := s.in.Discard(ctx, e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s Store) list(ctx context.Context, integration, prefix string) ([]state.Entry, error) {
	list, err := s.in.List(ctx, folder(integration))
	return slices.DeleteFunc(list, func(e state.Entry) bool {
		return !strings.HasPrefix(path.Base(e.Key), prefix)
	}), err
}

// Load returns the traces of a subject, the newest first. Those that cannot be
// read are left out and said in ignored; corrupt ones are set aside.
func (s Store) Load(ctx context.Context, of Subject) (traces []*Trace, ignored []string) {
	return s.load(ctx, of.Integration, prefix(of), func(t *Trace) bool { return t.Subject == of })
}

// All returns the traces of an integration, whatever its command and shard.
func (s Store) All(ctx context.Context, integration string) (traces []*Trace, ignored []string) {
	return s.load(ctx, integration, "", func(t *Trace) bool { return t.Integration == integration })
}

func (s Store) load(ctx context.Context, integration, prefix string, mine func(*Trace) bool) (traces []*Trace, ignored []string) {
	list, err := s.list(ctx, integration, prefix)
	if err != nil {
		return nil, []string{fmt.Sprintf("the traces of %q are not used: %v", integration, err)}
	}
	for i, r := range s.readAll(ctx, list) {
		t, err := r.trace, r.err
		if errors.Is(err, state.ErrNotFound) {
			continue // another writer just made room
		}
		if err == nil && !mine(t) {
			err = errors.New("it belongs to another task")
		}
		if err != nil {
			ignored = append(ignored, fmt.Sprintf("a trace of %q is not used: %v (%s)", integration, err, path.Base(list[i].Key)))
			continue
		}
		traces = append(traces, t)
	}
	slices.SortStableFunc(traces, func(a, b *Trace) int { return b.Recorded.Compare(a.Recorded) })
	return traces, ignored
}

// atOnce is how many traces are read at once, since a bucket is far away.
const atOnce = 8

type reading struct {
	trace *Trace
	err   error
}

// readAll reads the traces of a list, in its order.
func (s Store) readAll(ctx context.Context, list []state.Entry) []reading {
	out := make([]reading, len(list))
	for first := 0; first < len(list); first += atOnce {
		var some sync.WaitGroup
		for i := first; i < min(first+atOnce, len(list)); i++ {
			some.Go(func() { out[i].trace, out[i].err = s.read(ctx, list[i]) })
		}
		some.Wait()
	}
	return out
}

// read reads a trace. A corrupt one is set aside where that is possible: it is
// then told once.
func (s Store) read(ctx context.Context, e state.Entry) (*Trace, error) {
	raw, err := s.in.Read(ctx, e.Key)
	if err != nil {
		return nil, err
	}
	t, err := kind.Decode(raw)
	if errors.Is(err, state.ErrCorrupt) && s.in.Discard(ctx, e) == nil {
		_ = state.SetAside(ctx, s.in, e.Key, raw, err) // it is gone anyway, and told below
	}
	return t, err
}

// A Breach says that an integration broke its promise to ask the same always.
type Breach struct {
	Version     string    `json:"version"`
	Integration string    `json:"integration"`
	Why         string    `json:"why"`
	Found       time.Time `json:"found"`
}

func breachKey(integration string) string { return Breaches + "/" + state.Name(integration) + ".json" }

// Break remembers that a promise was broken and sets the integration's traces
// aside.
func (s Store) Break(ctx context.Context, integration, why string, at time.Time) error {
	raw, err := json.Marshal(Breach{Version, integration, why, at.UTC().Truncate(time.Second)})
	if err != nil {
		return fmt.Errorf("remembering a broken promise: %w", err)
	}
	if err := s.in.Write(ctx, breachKey(integration), raw); err != nil {
		return err
	}
	list, err := s.list(ctx, integration, "")
	if err != nil {
		return err
	}
	for _, e := range list {
		raw, err := s.in.Read(ctx, e.Key)
		if err != nil {
			continue // nobody can use it either
		}
		aside := "aside/" + strings.TrimPrefix(e.Key, "traces/")
		if err := errors.Join(s.in.Write(ctx, aside, raw), s.in.Remove(ctx, e.Key)); err != nil {
			return err
		}
	}
	return nil
}

// Broken returns why the promise of an integration does not count, "" when it
// does. What cannot be read counts as broken.
func (s Store) Broken(ctx context.Context, integration string) string {
	why, err := s.breach(ctx, integration)
	if err != nil {
		return "a broken promise is noted, but the note cannot be read"
	}
	return why
}

// Breach returns how the promise of an integration was broken, "" when there is
// no note of that or it cannot be read.
func (s Store) Breach(ctx context.Context, integration string) string {
	why, _ := s.breach(ctx, integration)
	return why
}

func (s Store) breach(ctx context.Context, integration string) (why string, err error) {
	raw, err := s.in.Read(ctx, breachKey(integration))
	if errors.Is(err, state.ErrNotFound) {
		return "", nil
	}
	var b Breach
	if err == nil {
		err = json.Unmarshal(raw, &b)
	}
	if err == nil && b.Why == "" {
		err = errors.New("it says nothing")
	}
	return b.Why, err
}

// Confirm lets the promise of an integration count again.
func (s Store) Confirm(ctx context.Context, integration string) error {
	return s.in.Remove(ctx, breachKey(integration))
}
