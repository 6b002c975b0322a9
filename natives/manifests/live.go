package manifests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// A Live is an object as it was read. It is the body of a [reconcile.Thing].
type Live struct {
	Object                     Object
	Kind                       Kind
	Namespace, Name            string
	UID, Version               string
	HasOwner, IsDeleting, Ours bool // Ours: a field manager of ours set a field of it

	managed []managed
}

// A managed entry says which fields a field manager owns.
type managed struct {
	Manager, Operation, Subresource string
	written                         any                            // the fields as they are written
	fields                          func() (*fieldpath.Set, error) // reads them once, which takes time
}

// Read reads a live object.
func Read(of Kind, raw json.RawMessage, o Options) (*Live, error) {
	object, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("reading a %s: %w", of, err)
	}
	meta, _ := object["metadata"].(map[string]any)
	out := &Live{
		Object: object, Kind: of, Namespace: text(meta["namespace"]), Name: text(meta["name"]), UID: text(meta["uid"]),
		Version: text(meta["resourceVersion"]), IsDeleting: meta["deletionTimestamp"] != nil,
	}
	kind := text(object["kind"])
	switch {
	case kind != "" && kind != of.Name: // items of a list may say no kind
		return nil, fmt.Errorf("reading a %s: it is a %.40q", of, kind)
	case out.Name == "" || out.UID == "" || out.Version == "":
		return nil, fmt.Errorf("reading a %s %.100q: it has no name, uid or resourceVersion", of, out.Name)
	}
	owners, _ := meta["ownerReferences"].([]any)
	out.HasOwner = len(owners) > 0
	entries, _ := meta["managedFields"].([]any)
	for _, entry := range entries {
		m := managed{Manager: text(at(entry, "manager")), Operation: text(at(entry, "operation")),
			Subresource: text(at(entry, "subresource")), written: at(entry, "fieldsV1")}
		m.fields = sync.OnceValues(func() (*fieldpath.Set, error) { return readFields(m.written) })
		out.managed = append(out.managed, m)
		out.Ours = out.Ours || o.isOurs(m)
	}
	return out, nil
}

// decode returns JSON as an object. Its numbers are json.Number.
func decode(raw []byte) (Object, error) {
	var out Object
	numbers := json.NewDecoder(bytes.NewReader(raw))
	numbers.UseNumber()
	if err := numbers.Decode(&out); err != nil {
		return nil, err
	}
	if out == nil {
		return nil, errors.New("it is null")
	}
	return out, nil
}

// readFields reads the fields that a manager owns.
func readFields(fields any) (*fieldpath.Set, error) {
	out := fieldpath.NewSet()
	if fields == nil {
		return out, nil
	}
	if err := out.FromJSON(strings.NewReader(canonical(fields))); err != nil {
		return nil, fmt.Errorf("reading managedFields: %w", err)
	}
	return out, nil
}

// Ref names the object.
func (l *Live) Ref() integration.ObjectRef { return l.Kind.Ref(l.Namespace, l.Name) }

// Preconditions name this state of the object.
func (l *Live) Preconditions() integration.Preconditions {
	return integration.Preconditions{UID: l.UID, ResourceVersion: l.Version}
}

// Mark returns the mark on the object.
func (l *Live) Mark() reconcile.Mark { return reconcile.MarkOfAnnotations(l.annotations()) }

// Deletable reports whether the object may be deleted at all: nothing owns it, and we set fields
// of it. A mark alone does not suffice, because others copy labels and annotations.
func (l *Live) Deletable() bool { return l.Ours && !l.HasOwner }

// Thing returns the object as a thing. A thing that no entry names must be left out unless it is
// [Live.Deletable].
func (l *Live) Thing(key reconcile.Key) reconcile.Thing {
	return reconcile.Thing{Key: key, Body: l, Mark: l.Mark(), SoftDeleted: l.IsDeleting, Version: l.Version}
}

// annotations returns the annotations of the object.
func (l *Live) annotations() map[string]string { return texts(at(l.Object, "metadata", "annotations")) }

// texts returns the members of an object that are texts.
func texts(value any) map[string]string {
	out := map[string]string{}
	members, _ := value.(map[string]any)
	for name, member := range members {
		if text, ok := member.(string); ok {
			out[name] = text
		}
	}
	return out
}

// at returns the value at a place of nested objects, nil if there is none.
func at(value any, names ...string) any {
	for _, name := range names {
		members, _ := value.(map[string]any)
		value = members[name]
	}
	return value
}

// appliedBefore are the annotations in which clients note what they applied.
const appliedBefore = "kubectl.kubernetes.io/last-applied-configuration"

// isNoted reports whether an annotation or label is a note about the object and no part of its
// manifest: the mark, the digest, and what kubectl applied.
func isNoted(name string) bool {
	if name == DigestAnnotation || strings.HasPrefix(name, appliedBefore) {
		return true
	}
	_, isAnnotation := everyMark.Annotations()[name]
	_, isLabel := everyMark.Labels()[name]
	return isAnnotation || isLabel
}

// everyMark is a mark with all of its parts.
var everyMark = reconcile.Mark{Integration: "i", Version: "1", Caller: "c"}

// Secrets returns what the object says about the secrets of the manifest that was applied last, "" if it says
// nothing.
func (l *Live) Secrets() string {
	return text(at(l.Object, "metadata", "annotations", SecretsAnnotation))
}

// Digest returns the digest of the manifest that was applied last, "" if there is none.
func (l *Live) Digest() string {
	return text(at(l.Object, "metadata", "annotations", DigestAnnotation))
}
