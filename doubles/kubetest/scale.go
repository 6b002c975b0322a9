package kubetest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// scalePart is the end of the path of a scale, by which kubectl scale, autoscalers and KEDA set a
// number of pods.
const scalePart = "/scale"

// asScale is the kind of a scale.
var asScale = schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}

// replicas is where the kinds that have a scale keep their number of pods.
var replicas = managedfields.ResourcePathMappings{"apps/v1": fieldpath.MakePathOrDie("spec", "replicas")}

// scaled returns what the path of a scale is the scale of; false if the path is none of a scale.
func (s *Server) scaled(path string) (place, bool) {
	of, isScale := strings.CutSuffix(path, scalePart)
	at, known := s.parse(of)
	return at, isScale && known && at.name != "" && (at.kind == "Deployment" || at.kind == "StatefulSet" ||
		at.kind == "ReplicaSet")
}

// answerScale answers a request to the scale of an object. The managers of its number of pods are kept
// by the code that a real server uses. A scale leaves out the number 0, and so nobody is the
// manager of that number.
func (s *Server) answerScale(w http.ResponseWriter, r *http.Request, at place, raw []byte) {
	if s.objects[at.path] == nil {
		refuse(w, at, http.StatusNotFound, "NotFound", fmt.Sprintf("%s.%s %q not found", at.resource, at.group, at.name), nil)
		return
	}
	old := s.objects[at.path].body
	if r.Method == http.MethodGet {
		_, _ = w.Write(encode(scaleOf(old)))
		return
	}
	managers := managedfields.NewScaleHandler(objectOf(old).GetManagedFields(),
		schema.GroupVersion{Group: "apps", Version: "v1"}, replicas)
	next, err := s.rescale(r, scaleOf(old), managers, raw)
	if err != nil {
		refuse(w, at, http.StatusBadRequest, "BadRequest", err.Error(), nil)
		return
	}
	entries, err := managers.ToParent(next.GetManagedFields())
	if err != nil {
		fail(w, at, err)
		return
	}
	is := objectOf(old)
	is.SetManagedFields(entries)
	is.SetResourceVersion(next.GetResourceVersion())
	n, _, _ := unstructured.NestedInt64(next.Object, "spec", "replicas")
	dig(is.Object, "spec")["replicas"] = n
	if !s.prepare(w, at, is.Object, old) {
		return
	}
	if !equal(withoutTimes(is.Object), withoutTimes(old)) && !isDry(r) {
		s.save(at.path, is.Object)
	}
	_, _ = w.Write(encode(scaleOf(is.Object)))
}

// rescale returns a scale as a request makes it, with the managers of its number.
func (s *Server) rescale(r *http.Request, is map[string]any, managers *managedfields.ScaleHandler,
	raw []byte) (*unstructured.Unstructured, error) {
	m := s.scaleModel()
	entries, err := managers.ToSubresource()
	if err != nil {
		return nil, err
	}
	live := objectOf(is)
	live.SetManagedFields(entries)
	change := patches[r.Header.Get("Content-Type")]
	if r.Method == http.MethodPut {
		change = func(_ *model, _ map[string]any, body []byte) (map[string]any, error) { return decode(body) }
	}
	if change == nil {
		return nil, fmt.Errorf("the body of the request was in an unknown format")
	}
	next, err := change(m, copyOf(live.Object), raw)
	if err == nil {
		next, err = m.complete(next)
	}
	if err != nil {
		return nil, err
	}
	out, err := m.fields.Update(live, objectOf(next), managerOf(r))
	if err != nil {
		return nil, err
	}
	return objectOf(bodyOf(out)), nil
}

// scaleModel returns what the server knows of scales.
func (s *Server) scaleModel() *model {
	m := s.models[asScale]
	if m == nil {
		m = newModel(asScale, strings.TrimPrefix(scalePart, "/"))
		s.models[asScale] = m
	}
	return m
}

// scaleOf returns the scale of an object.
func scaleOf(body map[string]any) map[string]any {
	m, out := mapOf(body["metadata"]), map[string]any{}
	for _, name := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp"} {
		out[name] = m[name]
	}
	spec := map[string]any{}
	if n := number(mapOf(body["spec"])["replicas"]); n != 0 {
		spec["replicas"] = int64(n)
	}
	return map[string]any{
		"apiVersion": asScale.GroupVersion().String(), "kind": asScale.Kind, "metadata": out, "spec": spec,
		"status": map[string]any{"replicas": int64(number(mapOf(body["status"])["replicas"])),
			"selector": selectorText(mapOf(body["spec"], "selector"))},
	}
}

// selectorText returns a selector as the text by which one can list.
func selectorText(selector map[string]any) string {
	var of meta.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(selector, &of); err != nil {
		return ""
	}
	out, err := meta.LabelSelectorAsSelector(&of)
	if err != nil {
		return ""
	}
	return out.String()
}

// Scale sets a number of pods as kubectl scale does: by the scale of the object, without saying a
// manager, so that the name of the program is the manager. Autoscalers do the same.
func (s *Server) Scale(t testing.TB, program, path string, pods int) {
	t.Helper()
	s.mustPatch(t, path+scalePart, "application/merge-patch+json", program+"/v1.37.2 (linux/amd64)",
		fmt.Sprintf(`{"spec":{"replicas":%d}}`, pods))
}

// Kubectl changes an object as a command of kubectl does, such as edit, patch or set: by a
// strategic merge patch whose fields belong to kubectl-COMMAND then.
func (s *Server) Kubectl(t testing.TB, command, path, patch string) {
	t.Helper()
	s.mustPatch(t, path+"?fieldManager=kubectl-"+command, "application/strategic-merge-patch+json",
		"kubectl/v1.37.2 (linux/amd64)", patch)
}

// mustPatch sends a patch of a program. It is no request of the code that is tested, and is not noted.
func (s *Server) mustPatch(t testing.TB, path, kind, agent, patch string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPatch, path, strings.NewReader(patch))
	r.Header.Set("Content-Type", kind)
	r.Header.Set("User-Agent", agent)
	w := httptest.NewRecorder()
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, isScale := s.scaled(r.URL.Path); isScale {
		s.answerScale(w, r, at, []byte(patch))
	} else if at, known := s.parse(r.URL.Path); known {
		s.patch(w, r, at, []byte(patch))
	}
	if w.Code != http.StatusOK || w.Body.Len() == 0 {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
}
