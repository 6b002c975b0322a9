package namespaces

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// A doer reads and writes single namespaces of a cluster.
type doer struct {
	target  target
	name    string                             // of the integration
	writers map[bool]integration.ClusterWriter // by whether the privileged token is used
	items   map[reconcile.Key]body
}

// newDoer returns what reads and writes the namespaces of a part.
func newDoer(ctx context.Context, env integration.Environment, act integration.Actors,
	p native.Part) (reconcile.Doer, error) {
	t, err := targetOf(p)
	if err != nil {
		return nil, err
	}
	d := doer{t, env.Integration, map[bool]integration.ClusterWriter{}, map[reconcile.Key]body{}}
	for _, it := range p.Items {
		b, _ := it.Body.(body)
		d.items[it.Key] = b
		ref, err := t.ref(b)
		if err != nil || d.writers[b.Admin] != nil {
			continue // the entry could not be read either
		}
		if d.writers[b.Admin], err = act.Cluster(ctx, ref); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// writer returns the writer for a namespace.
func (d doer) writer(k reconcile.Key) (integration.ClusterWriter, error) {
	w := d.writers[d.items[k].Admin]
	if w == nil {
		return nil, fmt.Errorf("cluster %q has no token for it", d.target.Name)
	}
	return w, nil
}

func refOf(k reconcile.Key) integration.ObjectRef {
	return integration.ObjectRef{Resource: resource(), Name: nameOf(k)}
}

// Read implements [reconcile.Doer].
func (d doer) Read(ctx context.Context, k reconcile.Key) (*reconcile.Thing, error) {
	w, err := d.writer(k)
	if err != nil {
		return nil, err
	}
	raw, err := w.Get(ctx, refOf(k))
	if errors.Is(err, integration.ErrNotThere) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return d.target.thing(raw, d.name)
}

// Write implements [reconcile.Doer].
func (d doer) Write(ctx context.Context, s reconcile.Step, fresh *reconcile.Thing, mark reconcile.Mark) error {
	w, err := d.writer(s.Key)
	if err != nil {
		return err
	}
	var was metadata
	if fresh != nil {
		was, _ = fresh.Body.(metadata)
	}
	switch s.Action {
	case reconcile.Remove:
		err = w.Delete(ctx, refOf(s.Key), integration.Preconditions{UID: was.UID, ResourceVersion: was.ResourceVersion},
			integration.Background)
		if errors.Is(err, integration.ErrNotThere) {
			err = nil
		}
	case reconcile.Create:
		err = d.send(ctx, w.Create, s, was, mark)
	default:
		err = d.send(ctx, w.Apply, s, was, mark)
	}
	if errors.Is(err, integration.ErrChanged) {
		return fmt.Errorf("%w: %w", reconcile.ErrConflict, err)
	}
	return err
}

// send sends what a step makes of a namespace.
func (d doer) send(ctx context.Context, send func(context.Context, integration.ObjectRef,
	json.RawMessage) (json.RawMessage, error), s reconcile.Step, was metadata, mark reconcile.Mark) error {
	o := object{APIVersion: "v1", Kind: "Namespace", Metadata: metadata{Name: nameOf(s.Key), UID: was.UID,
		ResourceVersion: was.ResourceVersion}}
	o.Metadata.Labels, o.Metadata.Annotations = mark.Labels(), mark.Annotations()
	if b, ok := s.Item.Body.(body); ok && s.Action != reconcile.AdoptIt {
		maps.Copy(o.Metadata.Labels, b.Labels)
		maps.Copy(o.Metadata.Annotations, b.Annotations)
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return err
	}
	_, err = send(ctx, refOf(s.Key), raw)
	return err
}
