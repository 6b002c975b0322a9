package writer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/kube"
)

// mergePatch is the media type of a JSON merge patch.
const mergePatch = string(types.MergePatchType)

// lastApplied is the annotation in which kubectl apply keeps what it applied.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Merge implements [integration.ClusterWriter].
func (w *Writer) Merge(ctx context.Context, ref integration.ObjectRef, patch json.RawMessage,
	was integration.Preconditions) (json.RawMessage, error) {
	of := kube.Call{Method: http.MethodPatch, Verbs: "patch", Ref: ref, Kind: mergePatch,
		Query: url.Values{"fieldManager": {w.c.Manager()}, "fieldValidation": {meta.FieldValidationStrict}}}
	var err error
	if of.Body, err = conditional(patch, was); err != nil {
		return nil, w.c.Refuse(of, err.Error())
	}
	return w.c.Object(ctx, of)
}

// conditional returns a merge patch with preconditions: the server refuses to change uid and
// resourceVersion.
func conditional(patch json.RawMessage, was integration.Preconditions) (json.RawMessage, error) {
	if was.UID == "" || was.ResourceVersion == "" {
		return nil, errors.New("a patch needs the uid and the resourceVersion of the object")
	}
	var body map[string]any
	numbers := json.NewDecoder(bytes.NewReader(patch))
	numbers.UseNumber()
	if err := errors.Join(json.Unmarshal(patch, &body), numbers.Decode(&body)); err != nil {
		return nil, fmt.Errorf("the patch is no JSON object: %w", err)
	}
	if _, has := body["metadata"]; !has && body != nil {
		body["metadata"] = map[string]any{}
	}
	metadata, _ := body["metadata"].(map[string]any)
	if metadata == nil {
		return nil, errors.New("the patch or its metadata is no JSON object")
	}
	metadata["uid"], metadata["resourceVersion"] = was.UID, was.ResourceVersion
	return json.Marshal(body)
}

// TakeFields implements [integration.ClusterWriter].
func (w *Writer) TakeFields(ctx context.Context, ref integration.ObjectRef, object json.RawMessage,
	managers []string) (json.RawMessage, error) {
	of := kube.Call{Method: http.MethodPatch, Verbs: "patch", Ref: ref}
	var was meta.PartialObjectMetadata
	if err := kube.CheckName(object, ref); err != nil {
		return nil, w.c.Refuse(of, "the object as it was read is not this object: "+err.Error())
	}
	if err := json.Unmarshal(object, &was); err != nil {
		return nil, w.c.Refuse(of, "the object as it was read: "+err.Error())
	}
	change, is := map[string]any{}, was.DeepCopy()
	for _, m := range append(slices.Clone(managers), w.c.Manager()) {
		if !slices.ContainsFunc(was.ManagedFields, func(e meta.ManagedFieldsEntry) bool {
			return e.Manager == m && e.Operation == meta.ManagedFieldsOperationUpdate && e.Subresource == ""
		}) {
			continue
		}
		if err := csaupgrade.UpgradeManagedFields(is, sets.New(m), w.c.Manager()); err != nil {
			return nil, w.c.Refuse(of, fmt.Sprintf("the fields of manager %.100q: %v", m, err))
		}
		change["managedFields"] = is.ManagedFields
	}
	if _, has := was.Annotations[lastApplied]; has {
		change["annotations"] = map[string]any{lastApplied: nil}
	}
	if len(change) == 0 {
		return object, nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": change})
	if err != nil {
		return nil, w.c.Refuse(of, err.Error())
	}
	return w.Merge(ctx, ref, patch, integration.Preconditions{UID: string(was.UID), ResourceVersion: was.ResourceVersion})
}
