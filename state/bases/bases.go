package bases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/app-sre/prcheck/state"
)

// Version is the version of the documents.
const Version = "1"

// The bounds of a document.
const (
	maxDocument = 16 << 20
	maxEntry    = 1 << 20 // bytes
	maxEntries  = 5000
)

// A document is what is remembered of a base.
type document struct {
	Version string                     `json:"version"`
	Base    string                     `json:"base"` // sha256
	Entries map[string]json.RawMessage `json:"entries"`
}

func key(base string) string { return "bases/" + state.Name(base) + ".json" }

func kind(base string) state.Kind[document] {
	return state.Kind[document]{Version: Version, Limit: maxDocument, Valid: func(d *document) error {
		if d.Base != base || len(d.Entries) > maxEntries {
			return errors.New("it is not valid")
		}
		return nil
	}}
}

// A Near keeps entries in this machine; see [Memory].
type Near interface {
	Recall(key string) ([]byte, bool)
	Remember(key string, raw []byte)
}

// A Memory keeps entries about one base: near, if that is possible, and in a state. The state
// is read once, when something is asked for that is not near. Several goroutines may use it.
type Memory struct {
	near Near // nil: nothing is kept near
	in   state.Store
	base string
	read func() map[string]json.RawMessage

	mu  sync.Mutex
	new map[string]json.RawMessage // what the state may not have
}

// NewMemory returns the memory of the base with this sha256.
func NewMemory(ctx context.Context, in state.Store, base string, near Near) *Memory {
	m := &Memory{near: near, in: in, base: base, new: map[string]json.RawMessage{}}
	m.read = sync.OnceValue(func() map[string]json.RawMessage {
		d, err := kind(base).Read(ctx, in, key(base))
		if err != nil { // it is worked out anew
			return nil
		}
		return d.Entries
	})
	return m
}

// Recall returns what was remembered under a key.
func (m *Memory) Recall(key string) ([]byte, bool) {
	if m.near != nil {
		if raw, ok := m.near.Recall(key); ok {
			m.keep(key, raw)
			return raw, true
		}
	}
	raw, ok := m.read()[key]
	if ok && m.near != nil {
		m.near.Remember(key, raw)
	}
	return raw, ok
}

// Remember keeps JSON under a key. The state gets it with [Memory.Save].
func (m *Memory) Remember(key string, raw []byte) {
	if m.near != nil {
		m.near.Remember(key, raw)
	}
	m.keep(key, raw)
}

// keep notes an entry for the state.
func (m *Memory) keep(key string, raw []byte) {
	if len(raw) > maxEntry || !json.Valid(raw) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.new[key] = raw
}

// Save writes to the state what it does not have, and returns how many entries that are. A
// state that is only read is no error.
func (m *Memory) Save(ctx context.Context) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.new) == 0 {
		return 0, nil
	}
	added := 0
	warning, err := kind(m.base).Update(ctx, m.in, key(m.base), func(d *document) {
		d.Version, d.Base, added = Version, m.base, 0
		if d.Entries == nil {
			d.Entries = map[string]json.RawMessage{}
		}
		for key, raw := range m.new {
			if _, known := d.Entries[key]; !known && len(d.Entries) < maxEntries {
				d.Entries[key] = raw
				added++
			}
		}
		if raw, err := json.Marshal(d); err != nil || len(raw) > maxDocument {
			d.Entries, added = map[string]json.RawMessage{}, 0
		}
	})
	if errors.Is(err, state.ErrReadOnly) {
		return 0, nil
	}
	if err = errors.Join(warning, err); err != nil {
		return 0, fmt.Errorf("remembering what tasks see of base: %w", err)
	}
	clear(m.new)
	return added, nil
}
