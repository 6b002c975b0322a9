package kubetest

import (
	"errors"
	"fmt"
	"strconv"
	"sync"

	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
)

// A model is what the server knows of a kind: its fields, their defaults and their managers. The
// managers are kept by the code that a real server uses. Objects of kinds without a Go type have
// any fields.
type model struct {
	gvk     schema.GroupVersionKind
	isTyped bool
	fields  *managedfields.FieldManager
	wrong   error // what was wrong with the fields in the last merge
}

// types are the Go types of the kinds that the server knows best.
var types = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{core.AddToScheme, apps.AddToScheme, batch.AddToScheme,
		autoscaling.AddToScheme} {
		if err := add(s); err != nil {
			panic(err) // the types are fixed
		}
	}
	return s
})

// model returns what the server knows of the kind of a place.
func (s *Server) model(at place) *model {
	gvk := schema.FromAPIVersionAndKind(at.apiVersion, at.kind)
	if m := s.models[gvk]; m != nil {
		return m
	}
	m := newModel(gvk, "")
	s.models[gvk] = m
	return m
}

// newModel returns what a server knows of a kind, or of the part of it that a subresource is.
func newModel(gvk schema.GroupVersionKind, subresource string) *model {
	m := &model{gvk: gvk, isTyped: types().Recognizes(gvk)}
	converter := managedfields.NewDeducedTypeConverter()
	if m.isTyped && subresource == "" { // subresources have no schema there
		converter = applyconfigurations.NewTypeConverter(types())
	}
	var err error
	if m.fields, err = managedfields.NewDefaultFieldManager(converter, sameVersion{}, m, maker{}, gvk, gvk.GroupVersion(),
		subresource, nil); err != nil {
		panic(err) // the arguments are fixed
	}
	return m
}

// apply returns the object as it is after a manager applied a patch to it.
func (m *model) apply(live, patch map[string]any, manager string, force bool) (map[string]any, error) {
	delete(patch, "status") // it is written elsewhere
	m.wrong = nil
	next, err := m.fields.Apply(objectOf(live), objectOf(patch), manager, force)
	if err := errors.Join(m.wrong, err); err != nil {
		return nil, err
	}
	return keepStatus(bodyOf(next), live), nil
}

// keepStatus gives an object the status that it has: it is written elsewhere.
func keepStatus(next, live map[string]any) map[string]any {
	next["status"] = live["status"]
	if live["status"] == nil {
		delete(next, "status")
	}
	return next
}

// update returns the object that a manager wrote, with the managers of its fields.
func (m *model) update(live, next map[string]any, manager string) (map[string]any, error) {
	out, err := m.fields.Update(objectOf(live), objectOf(next), manager)
	if err != nil {
		return nil, err
	}
	return bodyOf(out), nil
}

// Default implements [runtime.ObjectDefaulter] for the result of an apply.
func (m *model) Default(o runtime.Object) {
	u := o.(*unstructured.Unstructured) // nothing else is passed on
	body, err := m.complete(u.Object)
	if err != nil {
		m.wrong = err
		return
	}
	u.Object = body
}

// complete returns a body with what its type and the defaults of its kind say.
func (m *model) complete(body map[string]any) (map[string]any, error) {
	if !m.isTyped {
		return body, nil
	}
	o, err := types().New(m.gvk)
	if err != nil {
		return nil, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(body, o); err != nil {
		return nil, fmt.Errorf("failed to convert new object: %w", err)
	}
	out, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, err
	}
	out["apiVersion"], out["kind"] = m.gvk.GroupVersion().String(), m.gvk.Kind
	setDefaults(m.gvk.Kind, out)
	return out, nil
}

// empty returns an object of the kind that says nothing.
func (m *model) empty() map[string]any {
	body := map[string]any{"metadata": map[string]any{}}
	if o, err := types().New(m.gvk); m.isTyped && err == nil {
		if out, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o); err == nil {
			body = out
		}
	}
	body["apiVersion"], body["kind"] = m.gvk.GroupVersion().String(), m.gvk.Kind
	return body
}

// unknownFields returns an error if a body has a field that its type does not know.
func (m *model) unknownFields(body map[string]any) error {
	if !m.isTyped {
		return nil
	}
	o, err := types().New(m.gvk)
	if err != nil {
		return err
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(body, o, true)
}

// objectOf returns an object with a copy of a body.
func objectOf(body map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: copyOf(body)}
}

func bodyOf(o runtime.Object) map[string]any {
	return copyOf(o.(*unstructured.Unstructured).Object) // nothing else is passed on
}

// withoutTimes returns a copy of a body whose managed fields do not say when they were written.
func withoutTimes(body map[string]any) map[string]any {
	out := copyOf(body)
	for _, e := range listOf(dig(out, "metadata")["managedFields"]) {
		if entry, ok := e.(map[string]any); ok {
			delete(entry, "time")
		}
	}
	return out
}

// sameVersion converts nothing: the server knows each kind in one version.
type sameVersion struct{}

func (sameVersion) Convert(_, _, _ any) error { return nil }

func (sameVersion) ConvertToVersion(in runtime.Object, to runtime.GroupVersioner) (runtime.Object, error) {
	if gvk := in.GetObjectKind().GroupVersionKind(); to != gvk.GroupVersion() {
		return nil, runtime.NewNotRegisteredErrForTarget("kubetest", nil, to)
	}
	return in, nil
}

func (sameVersion) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// maker makes empty objects.
type maker struct{}

func (maker) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(gvk)
	return u, nil
}

// blank returns an object that says nothing but what it is.
func blank(at place) map[string]any {
	return map[string]any{"apiVersion": at.apiVersion, "kind": at.kind, "metadata": map[string]any{}}
}

// born returns a new object with what the server gives it.
func (s *Server) born(body map[string]any, at place) map[string]any {
	s.version++
	m := dig(body, "metadata")
	for field, value := range map[string]string{"name": at.name, "namespace": at.namespace,
		"creationTimestamp": "2026-01-01T00:00:00Z",
		"uid":               fmt.Sprintf("00000000-0000-0000-0000-%012d", s.version)} {
		if m[field] = value; value == "" {
			delete(m, field)
		}
	}
	for _, field := range []string{"resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds"} {
		delete(m, field)
	}
	delete(body, "status")
	if hasGeneration[at.kind] {
		body["status"] = map[string]any{}
		switch at.kind {
		case "StatefulSet":
			body["status"] = map[string]any{"replicas": int64(0), "availableReplicas": int64(0)}
		case "ReplicaSet":
			body["status"] = map[string]any{"replicas": int64(0)}
		}
		m["generation"] = int64(1)
	}
	switch at.kind {
	case custom[at.resource]:
		m["generation"] = int64(1)
	case "ResourceQuota":
		body["status"] = map[string]any{}
	case "Pod", "PersistentVolumeClaim":
		body["status"] = map[string]any{"phase": "Pending"}
	case "Namespace":
		dig(m, "labels")["kubernetes.io/metadata.name"] = at.name
		body["spec"] = map[string]any{"finalizers": []any{"kubernetes"}}
		body["status"] = map[string]any{"phase": "Active"}
	case "Service":
		body["status"] = map[string]any{"loadBalancer": map[string]any{}}
		if spec := dig(body, "spec"); spec["clusterIP"] == nil && spec["type"] != "ExternalName" {
			ip := "10.0." + strconv.Itoa(s.version/250%250) + "." + strconv.Itoa(1+s.version%250)
			spec["clusterIP"], spec["clusterIPs"] = ip, []any{ip}
		}
	}
	return body
}

// hasGeneration are the kinds that count how often their spec changed.
var hasGeneration = map[string]bool{"Deployment": true, "ReplicaSet": true, "StatefulSet": true, "CronJob": true,
	"Job": true, "Pod": true}

// countGeneration counts the generation of an object up if what is to be done changed. The
// annotations of a Deployment belong to that.
func countGeneration(next, live map[string]any) {
	kind, _ := live["kind"].(string)
	m, was := dig(next, "metadata"), dig(live, "metadata")
	n, _ := was["generation"].(int64)
	if !hasGeneration[kind] && kind != custom["pipelines"] && kind != custom["pipelineruns"] {
		return
	}
	if !equal(next["spec"], live["spec"]) || kind == "Deployment" && !equal(m["annotations"], was["annotations"]) {
		n++
	}
	m["generation"] = max(n, 1)
}
