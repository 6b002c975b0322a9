package namespaces

import (
	"strings"

	"github.com/app-sre/prcheck/natives/reconcile"
)

// label returns the type and the name of a namespace.
func label(k reconcile.Key, _ any) (kind, name string) { return "Namespace", nameOf(k) }

// places returns the places in an entry that lead to changes of its namespace, or to its deletion.
func places(it reconcile.Item, changes []reconcile.Change) []string {
	if it.Delete {
		return []string{"/delete"}
	}
	var out []string
	for _, c := range changes {
		out = append(out, strings.TrimPrefix(c.Path, "/metadata"))
	}
	return out
}

// alters returns how the namespace of base's entry differs from head's entry, if it is as base says and we made it.
func alters(base, head reconcile.Item) (changes []reconcile.Change, isKnown bool) {
	b, ok := base.Body.(body)
	if !ok {
		return nil, false
	}
	is := metadata{Labels: b.Labels, Annotations: b.Annotations}
	var ours managed
	ours.Operation = "Apply"
	fields := &ours.Fields.Metadata
	fields.Labels, fields.Annotations = namedBy(b.Labels), namedBy(b.Annotations)
	fields.Annotations["f:"+markPrefix+"integration"] = nil
	is.ManagedFields = []managed{ours}
	d, err := compare(head, reconcile.Thing{Key: base.Key, Body: is}, reconcile.Record{})
	return d.Changes, err == nil
}

// namedBy returns the fields of some labels or annotations.
func namedBy(of map[string]string) map[string]any {
	out := map[string]any{}
	for name := range of {
		out["f:"+name] = nil
	}
	return out
}

// sets returns the labels and annotations of a namespace that is created.
func sets(it reconcile.Item) []reconcile.Change {
	changes, _ := alters(reconcile.Item{Key: it.Key, Body: body{}}, it)
	return changes
}
