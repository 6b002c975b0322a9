package generic

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/hooks"
	"github.com/app-sre/prcheck/natives/generic/operation"
	"github.com/app-sre/prcheck/natives/generic/rest"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/state"
)

// A pending is what must outlive the process about a resource that is being written.
type pending struct {
	Version   string               `json:"version"`
	Key       reconcile.Key        `json:"key"`
	Intended  bool                 `json:"intended,omitempty"`  // it was not there, and we were about to create it
	Since     time.Time            `json:"since,omitzero"`      // when that was
	Operation *operation.Operation `json:"operation,omitempty"` // that goes on
	// Sent is the body that was sent, as records have it: what the operation applies.
	Sent string `json:"sent,omitempty"`
	Call *call  `json:"call,omitempty"` // of a hook, that may go on
	// Failed is what is known of an operation of ours that failed, until one succeeds.
	Failed *failure `json:"failed,omitempty"`
}

// applied returns the body that was sent; false if there is none.
func (p pending) applied() (any, bool) {
	if p.Sent == "" {
		return nil, false
	}
	v, err := body.Parse([]byte(p.Sent))
	return v, err == nil
}

const stateVersion = "1"

var pendingKind = state.Kind[pending]{Version: stateVersion}

const pendingFolder = "pending"

func pendingKey(k reconcile.Key) string { return pendingFolder + "/" + state.Name(string(k)) + ".json" }

// readPending reads what is pending, by key. Without a state nothing is.
func readPending(ctx context.Context, s state.Store) (map[reconcile.Key]pending, error) {
	out := map[reconcile.Key]pending{}
	if s == nil {
		return out, nil
	}
	list, err := s.List(ctx, pendingFolder)
	if err != nil {
		return nil, reconcile.Transient(fmt.Errorf("reading the state: %w", err))
	}
	for _, e := range list {
		doc, err := pendingKind.Read(ctx, s, e.Key)
		switch {
		case errors.Is(err, state.ErrNotFound):
		case err != nil:
			return nil, reconcile.Transient(fmt.Errorf("reading the state: %s: %w", e.Key, err))
		default:
			out[doc.Key] = *doc
		}
	}
	return out, nil
}

// A memory stores what is pending of one resource.
type memory struct {
	store state.Store // nil: nothing is stored
	key   reconcile.Key
	is    pending
	at    time.Time // when it writes
}

// Intend implements [rest.Memory].
func (m *memory) Intend(ctx context.Context) error {
	m.is.Intended, m.is.Since = true, m.at
	return m.save(ctx)
}

// Began implements [rest.Memory].
func (m *memory) Began(ctx context.Context, o operation.Operation) error {
	m.is.Operation = &o
	return m.save(ctx)
}

func (m *memory) save(ctx context.Context) error {
	if m.store == nil {
		return nil
	}
	m.is.Version, m.is.Key = stateVersion, m.key
	raw, err := json.Marshal(m.is)
	if err != nil {
		return err
	}
	return m.store.Update(context.WithoutCancel(ctx), pendingKey(m.key), func([]byte) ([]byte, error) { return raw, nil })
}

// end forgets the operation, and also the intent once the resource is remembered or gone.
func (m *memory) end(ctx context.Context, keepIntent bool) error {
	m.is.Operation, m.is.Call = nil, nil
	if !keepIntent {
		m.is.Sent, m.is.Intended = "", false
	}
	if m.is.Intended || m.is.Failed != nil {
		return m.save(ctx)
	}
	return m.remove(ctx)
}

// remove forgets all.
func (m *memory) remove(ctx context.Context) error {
	if m.store == nil {
		return nil
	}
	if err := m.store.Remove(context.WithoutCancel(ctx), pendingKey(m.key)); err != nil &&
		!errors.Is(err, state.ErrNotFound) {
		return reconcile.Transient(fmt.Errorf("it is done, but the state still says that it goes on: %w", err))
	}
	return nil
}

// An installation is the key of the hashes of secrets in the state.
type installation struct {
	Version string `json:"version"`
	Key     []byte `json:"key"`
}

var installationKind = state.Kind[installation]{Version: stateVersion}

const (
	installationKey = "installation.json"
	keySize         = 32 // bytes
)

// readKey returns the key of the installation, nil if there is none yet.
func readKey(ctx context.Context, s state.Store) ([]byte, error) {
	if s == nil {
		return nil, nil
	}
	doc, err := installationKind.Read(ctx, s, installationKey)
	switch {
	case errors.Is(err, state.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, reconcile.Transient(fmt.Errorf("reading the state: %w", err))
	}
	return doc.Key, nil
}

// makeKey returns the key of the installation, and makes one if there is none.
func makeKey(ctx context.Context, s state.Store) ([]byte, error) {
	if s == nil {
		return nil, nil
	}
	var out []byte
	err := s.Update(ctx, installationKey, func(old []byte) ([]byte, error) {
		if old != nil {
			doc, err := installationKind.Decode(old)
			if err != nil {
				return nil, err
			}
			out = doc.Key
			return old, nil
		}
		out = make([]byte, keySize)
		if _, err := rand.Read(out); err != nil {
			return nil, err
		}
		return json.Marshal(installation{stateVersion, out})
	})
	if err != nil {
		return nil, reconcile.Transient(fmt.Errorf("writing the state: %w", err))
	}
	return out, nil
}

// A call is a request that a hook asked for, such as one that purges a deleted resource. It is
// remembered before it is sent and until its end is known, so that no run begins it twice.
type call struct {
	Method    string               `json:"method"`
	Path      string               `json:"path"`
	At        time.Time            `json:"at"`                  // when it was about to be sent
	Operation *operation.Operation `json:"operation,omitempty"` // that it began
}

// callPause is how long a call of which nobody knows whether it arrived is not sent again.
const callPause = 5 * time.Minute

// A callMemory stores the call of a hook about one resource.
type callMemory struct {
	*memory
	call call
}

// Intend implements [rest.Memory].
func (m callMemory) Intend(ctx context.Context) error {
	m.is.Call = &m.call
	return m.save(ctx)
}

// Began implements [rest.Memory].
func (m callMemory) Began(ctx context.Context, o operation.Operation) error {
	m.call.Operation = &o
	return m.Intend(ctx)
}

// forget drops the call, whose end is known.
func (m callMemory) forget(ctx context.Context) error {
	if m.is.Call = nil; m.is.Intended || m.is.Operation != nil {
		return m.save(ctx)
	}
	return m.remove(ctx)
}

// call makes a call that a hook asks for, or waits for the end of that of an earlier run.
func (w *writing) call(ctx context.Context, q hooks.Request) error {
	now := w.Clock.Fill().Now().UTC()
	m := callMemory{w.memory, call{Method: q.Method, Path: q.Path, At: now}}
	was := w.memory.is.Call
	var err error
	switch {
	case was == nil || was.Method != q.Method || was.Path != q.Path, was.Operation == nil && now.Sub(was.At) >= callPause:
		err = w.client.Do(ctx, w.target, rest.Action{Method: q.Method, Path: q.Path, Body: q.Body}, m)
		if isUnknown(err) {
			return err
		}
	case was.Operation == nil:
		return reconcile.Transient(fmt.Errorf("it was sent at %s, and nothing tells how it went; it is sent again after %s",
			was.At.Format(time.RFC3339), was.At.Add(callPause).Format(time.RFC3339)))
	default:
		m.call = *was
		if err = w.client.ResumeAction(ctx, w.target, *was.Operation, m); errors.Is(err, rest.ErrPending) {
			return err
		}
	}
	return errors.Join(err, m.forget(ctx))
}

// isUnknown reports whether a call with an error may have been carried out, or goes on.
func isUnknown(err error) bool {
	var e *rest.Error
	return err != nil && (!errors.As(err, &e) || e.Class == rest.Retry)
}
