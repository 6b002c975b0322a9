package namespaces

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/native"
	"github.com/app-sre/prcheck/reconcile"
)

// An object is a namespace of a cluster, as far as it is looked at.
type object struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
}

type metadata struct {
	Name              string            `json:"name"`
	UID               string            `json:"uid,omitempty"`
	ResourceVersion   string            `json:"resourceVersion,omitempty"`
	DeletionTimestamp string            `json:"deletionTimestamp,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
	Annotations       map[string]string `json:"annotations,omitempty"`
	ManagedFields     []managed         `json:"managedFields,omitempty"`
}

// A managed entry says which fields somebody set.
type managed struct {
	Operation string `json:"operation"`
	Fields    struct {
		Metadata struct {
			Labels      map[string]any `json:"f:labels"`
			Annotations map[string]any `json:"f:annotations"`
		} `json:"f:metadata"`
	} `json:"fieldsV1"`
}

// current returns the namespaces of a cluster that entries name, and those with our mark.
func current(ctx context.Context, env integration.Environment, p native.Part) (native.Current, error) {
	t, err := targetOf(p)
	if err != nil {
		return native.Current{}, err
	}
	out := native.Current{Unread: map[reconcile.Key]error{}}
	for _, admin := range []bool{false, true} {
		names := map[string]bool{}
		for _, it := range p.Items {
			if b, _ := it.Body.(body); b.Admin == admin {
				names[nameOf(it.Key)] = true
			}
		}
		if len(names) == 0 {
			continue
		}
		things, err := list(ctx, env, t, body{Admin: admin})
		if err != nil {
			for n := range names {
				out.Unread[t.key(n)] = err
			}
			if len(names) == len(p.Items) {
				return native.Current{}, err
			}
			continue
		}
		for _, th := range things {
			if names[nameOf(th.Key)] {
				out.Things = append(out.Things, th)
			}
		}
	}
	return out, nil
}

// list returns all namespaces of a cluster.
func list(ctx context.Context, env integration.Environment, t target, b body) ([]reconcile.Thing, error) {
	ref, err := t.ref(b)
	if err != nil {
		return nil, err
	}
	reader, err := env.Cluster(ctx, ref)
	if err != nil {
		return nil, err
	}
	raw, err := reader.List(ctx, resource(), "", "")
	if err != nil {
		return nil, fmt.Errorf("listing namespaces: %w", err)
	}
	var out []reconcile.Thing
	for _, r := range raw {
		th, err := t.thing(r)
		if err != nil {
			return nil, err
		}
		out = append(out, *th)
	}
	return out, nil
}

// key returns the key of a namespace.
func (t target) key(name string) reconcile.Key { return reconcile.Key(t.Name + "/" + name) }

// nameOf returns the name of a namespace by its key. Names of clusters may have slashes, those
// of namespaces have none.
func nameOf(k reconcile.Key) string { return string(k[strings.LastIndexByte(string(k), '/')+1:]) }

// thing returns a namespace of the cluster as a thing.
func (t target) thing(raw json.RawMessage) (*reconcile.Thing, error) {
	var o object
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, fmt.Errorf("reading a namespace: %w", err)
	}
	m := o.Metadata
	if m.Name == "" || m.UID == "" || m.ResourceVersion == "" {
		return nil, errors.New("reading a namespace: it has no name, uid or resourceVersion")
	}
	return &reconcile.Thing{
		Key: t.key(m.Name), Body: m, Mark: reconcile.MarkOfAnnotations(m.Annotations),
		SoftDeleted: m.DeletionTimestamp != "", Version: m.ResourceVersion,
	}, nil
}

// compare returns how a namespace differs from its entry: in labels and annotations that the
// entry names, and in those that an earlier run set and that no entry names any more.
func compare(want reconcile.Item, is reconcile.Thing, _ reconcile.Record) (reconcile.Difference, error) {
	b, ok := want.Body.(body)
	m, isThere := is.Body.(metadata)
	if !ok || !isThere {
		return reconcile.Difference{}, fmt.Errorf("got a body of type %T and %T", want.Body, is.Body)
	}
	labels, annotations := m.owned()
	var d reconcile.Difference
	d.Changes = append(d.Changes, differences("/metadata/labels/", b.Labels, m.Labels, labels)...)
	d.Changes = append(d.Changes, differences("/metadata/annotations/", b.Annotations, m.Annotations, annotations)...)
	return d, nil
}

// owned returns the names of the labels and annotations that we set: those of the manager that
// applied our mark. The names of marks are left out.
func (m metadata) owned() (labels, annotations []string) {
	names := func(of map[string]any) []string {
		var out []string
		for f := range of {
			if name, ok := strings.CutPrefix(f, "f:"); ok && !strings.HasPrefix(name, markPrefix) {
				out = append(out, name)
			}
		}
		return out
	}
	for _, f := range m.ManagedFields {
		if _, marks := f.Fields.Metadata.Annotations["f:"+markPrefix+"integration"]; marks && f.Operation == "Apply" {
			labels = append(labels, names(f.Fields.Metadata.Labels)...)
			annotations = append(annotations, names(f.Fields.Metadata.Annotations)...)
		}
	}
	return labels, annotations
}

// differences returns how texts differ, in the order of their names.
func differences(path string, want, is map[string]string, owned []string) []reconcile.Change {
	var out []reconcile.Change
	for k, v := range want {
		if old, ok := is[k]; !ok || old != v {
			out = append(out, reconcile.Change{Path: path + escape(k), Old: old, New: v})
		}
	}
	for _, k := range owned {
		if _, wanted := want[k]; !wanted {
			out = append(out, reconcile.Change{Path: path + escape(k), Old: is[k]})
		}
	}
	slices.SortFunc(out, func(a, b reconcile.Change) int { return cmp.Compare(a.Path, b.Path) })
	return slices.Compact(out)
}

// escape returns a name as a part of a JSON pointer.
func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// A doer reads and writes single namespaces of a cluster.
type doer struct {
	target  target
	writers map[bool]integration.ClusterWriter // by whether the privileged token is used
	items   map[reconcile.Key]body
}

// newDoer returns what reads and writes the namespaces of a part.
func newDoer(ctx context.Context, _ integration.Environment, act integration.Actors, p native.Part) (reconcile.Doer, error) {
	t, err := targetOf(p)
	if err != nil {
		return nil, err
	}
	d := doer{t, map[bool]integration.ClusterWriter{}, map[reconcile.Key]body{}}
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
	return d.target.thing(raw)
}

// Write implements [reconcile.Doer].
func (d doer) Write(ctx context.Context, s reconcile.Step, fresh *reconcile.Thing, mark reconcile.Mark) error {
	w, err := d.writer(s.Key)
	if err != nil {
		return err
	}
	was, _ := metadata{}, error(nil)
	if fresh != nil {
		was, _ = fresh.Body.(metadata)
	}
	switch s.Action {
	case reconcile.Remove:
		err = w.Delete(ctx, refOf(s.Key), integration.Preconditions{UID: was.UID, ResourceVersion: was.ResourceVersion})
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
func (d doer) send(ctx context.Context, send func(context.Context, integration.ObjectRef, json.RawMessage) (json.RawMessage, error), s reconcile.Step, was metadata, mark reconcile.Mark) error {
	o := object{APIVersion: "v1", Kind: "Namespace", Metadata: metadata{Name: nameOf(s.Key), UID: was.UID, ResourceVersion: was.ResourceVersion}}
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
