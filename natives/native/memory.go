package native

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/state"
)

// A memory knows what was made for one part. It has 16 documents, for as many groups of
// keys, so that a step rewrites little.
type memory struct {
	store     state.Store
	folder    string
	remembers func(body any) any // nil keeps bodies
}

func (w *work) newMemory(s state.Store, p Part) *memory {
	return &memory{s, "known/" + p.name(), w.Remembers}
}

// A records document holds the records of some keys.
type records struct {
	Version string                             `json:"version"`
	Records map[reconcile.Key]reconcile.Record `json:"records"`
}

const recordsVersion = "1"

// document returns the key of the document for a key.
func (m *memory) document(k reconcile.Key) string {
	return m.folder + "/" + state.Name(string(k))[:1] + ".json"
}

// load returns all records.
func (m *memory) load(ctx context.Context) (map[reconcile.Key]reconcile.Record, error) {
	list, err := m.store.List(ctx, m.folder)
	if err != nil {
		return nil, err
	}
	out := map[reconcile.Key]reconcile.Record{}
	for _, e := range list {
		switch doc, err := recordKind.Read(ctx, m.store, e.Key); {
		case errors.Is(err, state.ErrNotFound):
		case err != nil:
			return nil, fmt.Errorf("%s: %w", e.Key, err)
		default:
			maps.Copy(out, doc.Records)
		}
	}
	return out, nil
}

// recordKind are the documents with records. Unlike other documents of a state, one that is
// damaged is an error: without it nobody knows what was made.
var recordKind = state.Kind[records]{Version: recordsVersion}

// decode reads a document; nil is an empty one.
func decode(raw []byte) (*records, error) {
	doc := &records{Version: recordsVersion}
	if raw != nil {
		var err error
		if doc, err = recordKind.Decode(raw); err != nil {
			return nil, err
		}
	}
	if doc.Records == nil {
		doc.Records = map[reconcile.Key]reconcile.Record{}
	}
	return doc, nil
}

// Remember implements [reconcile.Memory].
func (m *memory) Remember(ctx context.Context, k reconcile.Key, r reconcile.Record) error {
	if m.remembers != nil {
		r.Applied = m.remembers(r.Applied)
	}
	return m.change(ctx, k, func(all map[reconcile.Key]reconcile.Record) { all[k] = r })
}

// Forget implements [reconcile.Memory].
func (m *memory) Forget(ctx context.Context, k reconcile.Key) error {
	return m.change(ctx, k, func(all map[reconcile.Key]reconcile.Record) { delete(all, k) })
}

func (m *memory) change(ctx context.Context, k reconcile.Key, do func(map[reconcile.Key]reconcile.Record)) error {
	return m.store.Update(context.WithoutCancel(ctx), m.document(k), func(old []byte) ([]byte, error) {
		doc, err := decode(old)
		if err != nil {
			return nil, err
		}
		do(doc.Records)
		return json.Marshal(doc)
	})
}

// Know stores that things of a part were made, as a run does that makes them. What was applied
// is as Remembers returns it. The store is that of the integration.
func Know(ctx context.Context, s state.Store, p Part, all map[reconcile.Key]reconcile.Record) error {
	m := &memory{store: s, folder: "known/" + p.name()}
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if err := m.Remember(ctx, k, all[k]); err != nil {
			return fmt.Errorf("noting in the state that %q is ours: %w", k, err)
		}
	}
	return nil
}

// An intent document names the steps that a run is about to take, so that the next run can
// tell that this run was interrupted.
type intent struct {
	Version string   `json:"version"`
	Steps   []string `json:"steps"`
}

// begin notes the steps of a plan before the first of them, and returns a function that
// removes the note. It tells of a note that an interrupted run left behind.
func (w *work) begin(ctx context.Context, u *unit, s state.Store) (end func(), err error) {
	var steps []string
	for _, step := range u.plan.Steps {
		if step.Action.Writes() {
			steps = append(steps, fmt.Sprintf("%s %s", step.Action, step.Key))
		}
	}
	if len(steps) == 0 {
		return func() {}, nil
	}
	key := u.part.intentKey()
	err = s.Update(ctx, key, func(old []byte) ([]byte, error) {
		w.tellInterrupted(u, old)
		return json.Marshal(intent{recordsVersion, steps})
	})
	if err != nil {
		return nil, fmt.Errorf("noting the steps in the state: %w", err)
	}
	return func() { _ = s.Remove(context.WithoutCancel(ctx), key) }, nil // the next run tells of it
}

// begun returns the things of the steps that a run was about to take and did not end.
func (w *work) begun(ctx context.Context, u *unit) []reconcile.Key {
	left, err := state.Kind[intent]{Version: recordsVersion}.Read(ctx, w.env.State, u.part.intentKey())
	if err != nil {
		return nil // it is only told
	}
	var out []reconcile.Key
	for _, s := range left.Steps {
		_, k, _ := strings.Cut(s, " ")
		out = append(out, reconcile.Key(k))
	}
	return out
}

// intentKey returns the key of the intent document of a part.
func (p Part) intentKey() string { return "intent/" + p.name() + ".json" }

// tellInterrupted says which steps an interrupted run may have taken.
func (w *work) tellInterrupted(u *unit, raw []byte) {
	if raw == nil {
		return
	}
	left, err := state.Kind[intent]{Version: recordsVersion}.Decode(raw)
	if err != nil {
		return // it is only told
	}
	slices.Sort(left.Steps)
	for _, s := range left.Steps[:min(len(left.Steps), maxKeys)] {
		w.say("the last run was interrupted, and may have done: " + s)
	}
	if more := len(left.Steps) - maxKeys; more > 0 {
		w.say(fmt.Sprintf("and %d more steps of %s", more, u.part.Shard))
	}
}
