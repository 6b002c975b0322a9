package namespaces

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/app-sre/prcheck/integration"
)

// A fake is a cluster with namespaces in memory. It keeps the rules that the integration relies
// on: versions, preconditions and the owners of fields.
type fake struct {
	mu      sync.Mutex
	objects map[string]metadata
	version int
	calls   []string // all requests, such as "list" and "apply a"
	fail    error    // is returned by every call
	before  func(call string)
}

func newFake() *fake { return &fake{objects: map[string]metadata{}} }

// put makes a namespace as another tool would.
func (f *fake) put(name string, labels, annotations map[string]string) {
	f.version++
	m := f.objects[name]
	if m.UID == "" {
		m = metadata{Name: name, UID: "uid-" + strconv.Itoa(f.version)}
	}
	m.Labels, m.Annotations, m.ResourceVersion = labels, annotations, strconv.Itoa(f.version)
	f.objects[name] = m
}

// called notes a request and returns the failure of the cluster.
func (f *fake) called(call string) error {
	if f.before != nil {
		f.before(call)
	}
	f.mu.Lock()
	f.calls = append(f.calls, call)
	return f.fail
}

func (f *fake) raw(name string) json.RawMessage {
	raw, err := json.Marshal(object{APIVersion: "v1", Kind: "Namespace", Metadata: f.objects[name]})
	if err != nil {
		panic(err)
	}
	return raw
}

// A reader has no methods that write.
type reader struct{ f *fake }

func (r reader) Get(_ context.Context, ref integration.ObjectRef) (json.RawMessage, error) {
	err := r.f.called("get " + ref.Name)
	defer r.f.mu.Unlock()
	if _, ok := r.f.objects[ref.Name]; !ok && err == nil {
		err = integration.ErrNotThere
	}
	if err != nil {
		return nil, err
	}
	return r.f.raw(ref.Name), nil
}

func (r reader) List(context.Context, integration.Resource, string, string) ([]json.RawMessage, error) {
	err := r.f.called("list")
	defer r.f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	var out []json.RawMessage
	for _, name := range slices.Sorted(maps.Keys(r.f.objects)) {
		out = append(out, r.f.raw(name))
	}
	return out, nil
}

type writer struct{ reader }

func (w writer) Create(_ context.Context, ref integration.ObjectRef, raw json.RawMessage) (json.RawMessage, error) {
	err := w.f.called("create " + ref.Name)
	defer w.f.mu.Unlock()
	if _, ok := w.f.objects[ref.Name]; ok && err == nil {
		err = integration.ErrChanged
	}
	if err != nil {
		return nil, err
	}
	return w.f.apply(ref.Name, raw, nil), nil
}

func (w writer) Apply(_ context.Context, ref integration.ObjectRef, raw json.RawMessage) (json.RawMessage, error) {
	err := w.f.called("apply " + ref.Name)
	defer w.f.mu.Unlock()
	is := w.f.objects[ref.Name]
	var o object
	if err == nil {
		err = json.Unmarshal(raw, &o)
	}
	if err == nil && (o.Metadata.UID != is.UID || o.Metadata.ResourceVersion != is.ResourceVersion) {
		err = integration.ErrChanged
	}
	if err != nil {
		return nil, err
	}
	labels, _ := is.owned()
	return w.f.apply(ref.Name, raw, labels), nil
}

// apply sets the fields of an object. Labels that were set before and are not any more go.
func (f *fake) apply(name string, raw json.RawMessage, owned []string) json.RawMessage {
	var o object
	if err := json.Unmarshal(raw, &o); err != nil {
		panic(err)
	}
	m := f.objects[name]
	labels, annotations := maps.Clone(m.Labels), maps.Clone(m.Annotations)
	if labels == nil {
		labels = map[string]string{}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	for _, k := range owned {
		delete(labels, k)
	}
	maps.Copy(labels, o.Metadata.Labels)
	maps.Copy(annotations, o.Metadata.Annotations)
	set := managed{Operation: "Apply"}
	set.Fields.Metadata.Labels, set.Fields.Metadata.Annotations = fields(o.Metadata.Labels), fields(o.Metadata.Annotations)
	f.put(name, labels, annotations)
	m = f.objects[name]
	m.ManagedFields = []managed{set}
	f.objects[name] = m
	return f.raw(name)
}

func fields(of map[string]string) map[string]any {
	out := map[string]any{}
	for k := range of {
		out["f:"+k] = map[string]any{}
	}
	return out
}

func (w writer) Delete(_ context.Context, ref integration.ObjectRef, was integration.Preconditions) error {
	err := w.f.called("delete " + ref.Name)
	defer w.f.mu.Unlock()
	is, ok := w.f.objects[ref.Name]
	switch {
	case err != nil:
	case !ok:
		err = integration.ErrNotThere
	case is.UID != was.UID || is.ResourceVersion != was.ResourceVersion:
		err = fmt.Errorf("%s: %w", ref.Name, integration.ErrChanged)
	default:
		delete(w.f.objects, ref.Name)
	}
	return err
}
