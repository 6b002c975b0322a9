package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/app-sre/prcheck/integration"
)

// A Writer reads and changes the objects of a cluster. It implements
// [integration.ClusterWriter].
type Writer struct{ Objects }

// applyPatch is the media type of server-side apply. JSON is YAML as well.
const applyPatch = string(types.ApplyYAMLPatchType)

// neverVersion is a resourceVersion that no object ever has. An apply with it succeeds only if
// there is no object: then the precondition does not apply, and the object is made.
const neverVersion = "9223372036854775807"

// Create implements [integration.ClusterWriter]. It makes the object by server-side apply, so
// that its fields have the same manager from the first day. A POST would give them to a second
// manager, with which each later apply would be in conflict.
func (w *Writer) Create(ctx context.Context, ref integration.ObjectRef, object json.RawMessage) (json.RawMessage, error) {
	of, err := w.c.creation(ref, object)
	if err != nil {
		return nil, err
	}
	raw, err := w.c.object(ctx, of)
	return raw, w.c.asThere(of, err)
}

// Apply implements [integration.ClusterWriter].
func (w *Writer) Apply(ctx context.Context, ref integration.ObjectRef, object json.RawMessage) (json.RawMessage, error) {
	of, err := w.c.application(ref, object)
	if err != nil {
		return nil, err
	}
	return w.c.object(ctx, of)
}

// creation returns the call of a server-side apply that makes an object.
func (c *connection) creation(ref integration.ObjectRef, object json.RawMessage) (call, error) {
	of := c.apply(ref, "create and patch")
	body, was, err := decodeApplied(object, ref)
	if err == nil && was != (integration.Preconditions{}) {
		err = errors.New("an object that is to be made has no uid and no resourceVersion")
	}
	if err == nil {
		body["metadata"].(map[string]any)["resourceVersion"] = neverVersion // checked by decodeApplied
		of.body, err = json.Marshal(body)
	}
	if err != nil {
		return of, c.refuse(of, err.Error())
	}
	return of, nil
}

// application returns the call of a server-side apply to an object, which has preconditions
// or none.
func (c *connection) application(ref integration.ObjectRef, object json.RawMessage) (call, error) {
	of := c.apply(ref, "patch")
	of.body = object
	_, was, err := decodeApplied(object, ref)
	if err == nil && (was.UID == "") != (was.ResourceVersion == "") {
		err = errors.New("uid and resourceVersion are preconditions together")
	}
	if err != nil {
		return of, c.refuse(of, err.Error())
	}
	return of, nil
}

// asThere returns the error of a creation. An object whose fields are those of others is there.
func (c *connection) asThere(of call, err error) error {
	if fields := (*integration.FieldConflict)(nil); errors.As(err, &fields) {
		return c.explain(of, integration.ErrChanged)
	}
	return err
}

// apply returns the call of a server-side apply. It never forces.
func (c *connection) apply(ref integration.ObjectRef, verbs string) call {
	return call{method: http.MethodPatch, verbs: verbs, ref: ref, kind: applyPatch,
		query: url.Values{"fieldManager": {c.manager}, "fieldValidation": {meta.FieldValidationStrict}}}
}

// decodeApplied returns the fields of an object that is to be applied, and its preconditions.
// The object must be the one that ref names.
func decodeApplied(object json.RawMessage, ref integration.ObjectRef) (map[string]any, integration.Preconditions, error) {
	var is header
	var body map[string]any
	numbers := json.NewDecoder(bytes.NewReader(object))
	numbers.UseNumber()
	if err := errors.Join(json.Unmarshal(object, &is), numbers.Decode(&body)); err != nil {
		return nil, integration.Preconditions{}, fmt.Errorf("the object is no JSON: %w", err)
	}
	m := is.Metadata
	if is.APIVersion != apiVersion(ref.Resource) || is.Kind == "" || m.Name != ref.Name || m.Namespace != ref.Namespace || m.Name == "" {
		return nil, integration.Preconditions{}, fmt.Errorf("the object is %.100q %.100q of %.100q in namespace %.100q", is.Kind, m.Name, is.APIVersion, m.Namespace)
	}
	return body, integration.Preconditions{UID: m.UID, ResourceVersion: m.ResourceVersion}, nil
}

// Delete implements [integration.ClusterWriter].
func (w *Writer) Delete(ctx context.Context, ref integration.ObjectRef, was integration.Preconditions, dependents integration.Propagation) error {
	of := call{method: http.MethodDelete, verbs: "delete", ref: ref, kind: "application/json"}
	switch {
	case was.UID == "" || was.ResourceVersion == "":
		return w.c.refuse(of, "a deletion needs the uid and the resourceVersion of the object")
	case dependents != integration.Background && dependents != integration.Foreground && dependents != integration.Orphan:
		return w.c.refuse(of, fmt.Sprintf("a deletion must say what becomes of dependents, not %.100q", dependents))
	}
	uid, after := types.UID(was.UID), meta.DeletionPropagation(dependents)
	var err error
	of.body, err = json.Marshal(meta.DeleteOptions{
		TypeMeta:      meta.TypeMeta{Kind: "DeleteOptions", APIVersion: "v1"},
		Preconditions: &meta.Preconditions{UID: &uid, ResourceVersion: &was.ResourceVersion}, PropagationPolicy: &after,
	})
	if err != nil {
		return err
	}
	raw, err := w.c.send(ctx, of)
	if err != nil {
		return err
	}
	if err := checkDeleted(raw, ref); err != nil {
		return w.c.explain(of, &trouble{text: "the answer to a deletion is wrong: " + err.Error()})
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
	return checkObject(raw, ref)
}
