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
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
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

	manager string // our field manager
}

// A managed entry says which fields somebody set.
type managed struct {
	Manager   string `json:"manager"`
	Operation string `json:"operation"`
	Fields    struct {
		Metadata struct {
			Labels      map[string]any `json:"f:labels"`
			Annotations map[string]any `json:"f:annotations"`
		} `json:"f:metadata"`
	} `json:"fieldsV1"`
}

// current returns the namespaces of a cluster that entries name, and those with the mark of the
// integration. The namespaces of privileged entries are read with the privileged token.
func current(ctx context.Context, env integration.Environment, p native.Part) (native.Current, error) {
	t, err := targetOf(p)
	if err != nil {
		return native.Current{}, err
	}
	admin := map[string]bool{} // by the names that entries have
	for _, it := range p.Items {
		b, _ := it.Body.(body) // an entry with a mistake has none
		admin[nameOf(it.Key)] = b.Admin
	}
	out := native.Current{Unread: map[reconcile.Key]error{}}
	unnamed := map[reconcile.Key]reconcile.Thing{}
	for _, privileged := range []bool{false, true} {
		names := slices.DeleteFunc(slices.Collect(maps.Keys(admin)), func(n string) bool { return admin[n] != privileged })
		if len(names) == 0 {
			continue
		}
		things, err := list(ctx, env, t, body{Admin: privileged})
		if err != nil && len(names) == len(admin) {
			return native.Current{}, err
		}
		for _, n := range names {
			if err != nil {
				out.Unread[t.key(n)] = err
			}
		}
		for _, th := range things {
			switch asks, isNamed := admin[nameOf(th.Key)]; {
			case isNamed && asks == privileged:
				out.Things = append(out.Things, th)
			case !isNamed && th.Mark.Integration == env.Integration:
				unnamed[th.Key] = th
			}
		}
	}
	out.Things = slices.AppendSeq(out.Things, maps.Values(unnamed))
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
		th, err := t.thing(r, env.Integration)
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

// thing returns a namespace of the cluster as a thing of the integration with a name.
func (t target) thing(raw json.RawMessage, name string) (*reconcile.Thing, error) {
	var o object
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, fmt.Errorf("reading a namespace: %w", err)
	}
	m := o.Metadata
	m.manager = integration.FieldManager(name)
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
	d.Mistake = m.conflict(b)
	return d, nil
}

// codeConflict is the code of a label or annotation that another manager owns.
const codeConflict plan.FindingCode = "FIELD_CONFLICT"

// conflict returns the mistake that others own labels or annotations with other values than an entry
// says: the server would refuse to set them.
func (m metadata) conflict(b body) reconcile.Mistake {
	var told []string
	add := func(kind string, want, is map[string]string, of func(managed) map[string]any) {
		for _, name := range slices.Sorted(maps.Keys(want)) {
			old, isThere := is[name]
			for _, f := range m.ManagedFields {
				isOurs := f.Manager == m.manager && f.Operation == "Apply"
				if _, owns := of(f)["f:"+name]; owns && !isOurs && isThere && old != want[name] {
					told = append(told, fmt.Sprintf("%.100s owns the %s %.100s (%.60q there, %.60q wanted)", f.Manager, kind, name,
						old, want[name]))
				}
			}
		}
	}
	add("label", b.Labels, m.Labels, func(f managed) map[string]any { return f.Fields.Metadata.Labels })
	add("annotation", b.Annotations, m.Annotations, func(f managed) map[string]any {
		return f.Fields.Metadata.Annotations
	})
	if len(told) == 0 {
		return reconcile.Mistake{}
	}
	const most = 5
	if left := len(told) - most; left > 0 {
		told = append(told[:most], fmt.Sprintf("and %d more", left))
	}
	return reconcile.Mistake{Code: codeConflict,
		Message: strings.Join(told, "; ") + ": undo that change, or take it over into the data"}
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
	return slices.CompactFunc(out, func(a, b reconcile.Change) bool { return a.Path == b.Path })
}

// escape returns a name as a part of a JSON pointer.
func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
