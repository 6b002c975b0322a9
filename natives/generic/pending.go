package generic

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/operation"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/state"
)

// A pending is what must outlive the process about a resource that is being written.
type pending struct {
	Version   string               `json:"version"`
	Key       reconcile.Key        `json:"key"`
	Intended  bool                 `json:"intended,omitempty"`  // it was not there, and we were about to create it
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
}

// Intend implements [rest.Memory].
func (m *memory) Intend(ctx context.Context) error {
	m.is.Intended = true
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
