package kube

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/app-sre/prcheck/integration"
)

// applyPatch is the media type of server-side apply. JSON is YAML as well.
const applyPatch = string(types.ApplyYAMLPatchType)

// neverVersion is a resourceVersion that no object ever has. An apply with it succeeds only if
// there is no object: then the precondition does not apply, and the object is made.
const neverVersion = "9223372036854775807"

// Creation returns the call of a server-side apply that makes an object.
func (c *Connection) Creation(ref integration.ObjectRef, object json.RawMessage) (Call, error) {
	of := c.apply(ref, "create and patch")
	body, was, err := decodeApplied(object, ref)
	if err == nil && was != (integration.Preconditions{}) {
		err = errors.New("an object that is to be made has no uid and no resourceVersion")
	}
	if err == nil {
		body["metadata"].(map[string]any)["resourceVersion"] = neverVersion // checked by decodeApplied
		of.Body, err = json.Marshal(body)
	}
	if err != nil {
		return of, c.Refuse(of, err.Error())
	}
	return of, nil
}

// Application returns the call of a server-side apply to an object, which has preconditions
// or none.
func (c *Connection) Application(ref integration.ObjectRef, object json.RawMessage) (Call, error) {
	of := c.apply(ref, "patch")
	of.Body = object
	_, was, err := decodeApplied(object, ref)
	if err == nil && (was.UID == "") != (was.ResourceVersion == "") {
		err = errors.New("uid and resourceVersion are preconditions together")
	}
	if err != nil {
		return of, c.Refuse(of, err.Error())
	}
	return of, nil
}

// AsThere returns the error of a creation. An object whose fields are those of others is there.
func (c *Connection) AsThere(of Call, err error) error {
	if fields := (*integration.FieldConflict)(nil); errors.As(err, &fields) {
		return c.explain(of, integration.ErrChanged)
	}
	return err
}

// apply returns the call of a server-side apply. It never forces.
func (c *Connection) apply(ref integration.ObjectRef, verbs string) Call {
	return Call{Method: http.MethodPatch, Verbs: verbs, Ref: ref, Kind: applyPatch,
		Query: url.Values{"fieldManager": {c.manager}, "fieldValidation": {meta.FieldValidationStrict}}}
}

// decodeApplied returns the fields of an object that is to be applied, and its preconditions.
// The object must be the one that ref names.
func decodeApplied(object json.RawMessage,
	ref integration.ObjectRef) (map[string]any, integration.Preconditions, error) {
	var is header
	var body map[string]any
	numbers := json.NewDecoder(bytes.NewReader(object))
	numbers.UseNumber()
	if err := errors.Join(json.Unmarshal(object, &is), numbers.Decode(&body)); err != nil {
		return nil, integration.Preconditions{}, fmt.Errorf("the object is no JSON: %w", err)
	}
	m := is.Metadata
	if is.APIVersion != apiVersion(ref.Resource) || is.Kind == "" || m.Name != ref.Name || m.Namespace != ref.Namespace ||
		m.Name == "" {
		return nil, integration.Preconditions{}, fmt.Errorf("the object is %.100q %.100q of %.100q in namespace %.100q",
			is.Kind, m.Name, is.APIVersion, m.Namespace)
	}
	return body, integration.Preconditions{UID: m.UID, ResourceVersion: m.ResourceVersion}, nil
}
