package writer

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/outward"
	"github.com/app-sre/prcheck/natives/kube"
)

// A Writer reads and changes the objects of a cluster. It implements
// [integration.ClusterWriter].
type Writer struct {
	*kube.Objects
	c *kube.Connection
}

// Open returns what reads and changes the objects of a cluster. It sends no request yet.
func Open(a kube.Access) (*Writer, error) {
	c, err := kube.Dial(a, outward.Anything)
	if err != nil {
		return nil, err
	}
	return On(c), nil
}

// On returns what sends its writes over a connection, as far as that lets them.
func On(c *kube.Connection) *Writer { return &Writer{c.Objects(), c} }

// Create implements [integration.ClusterWriter]. It makes the object by server-side apply, so
// that its fields have the same manager from the first day. A POST would give them to a second
// manager, with which each later apply would be in conflict.
func (w *Writer) Create(ctx context.Context, ref integration.ObjectRef,
	object json.RawMessage) (json.RawMessage, error) {
	of, err := w.c.Creation(ref, object)
	if err != nil {
		return nil, err
	}
	raw, err := w.c.Object(ctx, of)
	return raw, w.c.AsThere(of, err)
}

// Apply implements [integration.ClusterWriter].
func (w *Writer) Apply(ctx context.Context, ref integration.ObjectRef,
	object json.RawMessage) (json.RawMessage, error) {
	of, err := w.c.Application(ref, object)
	if err != nil {
		return nil, err
	}
	return w.c.Object(ctx, of)
}

// Delete implements [integration.ClusterWriter].
func (w *Writer) Delete(ctx context.Context, ref integration.ObjectRef, was integration.Preconditions,
	dependents integration.Propagation) error {
	of := kube.Call{Method: http.MethodDelete, Verbs: "delete", Ref: ref, Kind: "application/json"}
	switch {
	case was.UID == "" || was.ResourceVersion == "":
		return w.c.Refuse(of, "a deletion needs the uid and the resourceVersion of the object")
	case dependents != integration.Background && dependents != integration.Foreground && dependents != integration.Orphan:
		return w.c.Refuse(of, fmt.Sprintf("a deletion must say what becomes of dependents, not %.100q", dependents))
	}
	uid, after := types.UID(was.UID), meta.DeletionPropagation(dependents)
	var err error
	of.Body, err = json.Marshal(meta.DeleteOptions{
		TypeMeta:      meta.TypeMeta{Kind: "DeleteOptions", APIVersion: "v1"},
		Preconditions: &meta.Preconditions{UID: &uid, ResourceVersion: &was.ResourceVersion}, PropagationPolicy: &after,
	})
	if err != nil {
		return err
	}
	raw, err := w.c.Send(ctx, of)
	if err != nil {
		return err
	}
	if err := checkDeleted(raw, ref); err != nil {
		return w.c.Wrong(of, "the answer to a deletion is wrong: "+err.Error())
	}
	return nil
}

// checkDeleted returns an error if raw says neither that a deletion succeeded nor which object
// is being deleted.
func checkDeleted(raw []byte, ref integration.ObjectRef) error {
	var is struct {
		Kind   string          `json:"kind"`
		Status json.RawMessage `json:"status"`
	}
	if err := json.Unmarshal(raw, &is); err != nil {
		return err
	}
	if is.Kind == "Status" && string(is.Status) == `"Success"` {
		return nil
	}
	return kube.CheckObject(raw, ref)
}
