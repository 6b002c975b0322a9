package kubetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// identity is what a body says about which object it is.
type identity struct {
	APIVersion, Kind string
	Metadata         struct {
		Name, Namespace, UID, ResourceVersion string
		ManagedFields                         []any
	}
}

// read decodes a body, and answers if it is not an object of this place.
func (s *Server) read(w http.ResponseWriter, at place, raw []byte) (body map[string]any, id identity, ok bool) {
	body, err := decode(raw)
	if err == nil {
		err = json.Unmarshal(raw, &id)
	}
	m := id.Metadata
	switch {
	case err != nil:
		refuse(w, at, http.StatusBadRequest, "BadRequest", "error decoding: "+err.Error(), nil)
	case id.APIVersion != at.apiVersion || id.Kind != at.kind || m.Namespace != "" && m.Namespace != at.namespace || at.name != "" && m.Name != at.name:
		refuse(w, at, http.StatusBadRequest, "BadRequest", "the object is not that of the URL", nil)
	case m.Name == "" || strings.ToLower(m.Name) != m.Name || len(m.Name) > 63:
		refuse(w, at, http.StatusUnprocessableEntity, "Invalid", fmt.Sprintf("%s %q is invalid: metadata.name", at.kind, m.Name), nil)
	case at.namespace != "" && s.objects["/api/v1/namespaces/"+at.namespace] == nil:
		at.name, at.resource = at.namespace, "namespaces"
		refuse(w, at, http.StatusNotFound, "NotFound", fmt.Sprintf("namespaces %q not found", at.namespace), nil)
	default:
		return body, id, true
	}
	return nil, id, false
}

// create answers a POST.
func (s *Server) create(w http.ResponseWriter, r *http.Request, at place, raw []byte) {
	body, id, ok := s.read(w, at, raw)
	if !ok {
		return
	}
	at.name, at.path = id.Metadata.Name, at.path+"/"+id.Metadata.Name
	if s.objects[at.path] != nil {
		refuse(w, at, http.StatusConflict, "AlreadyExists", fmt.Sprintf("%s %q already exists", at.resource, at.name), nil)
		return
	}
	fresh := s.make(at)
	made := copyOf(fresh.body)
	for field, value := range leaves("", body, map[string]any{}) {
		set(made, field, value, true)
	}
	s.save(at.path, fresh.edited(r.URL.Query().Get("fieldManager"), made))
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(encode(s.objects[at.path].render()))
}

// apply answers a server-side apply.
func (s *Server) apply(w http.ResponseWriter, r *http.Request, at place, raw []byte) {
	manager := r.URL.Query().Get("fieldManager")
	switch {
	case r.Header.Get("Content-Type") != "application/apply-patch+yaml":
		refuse(w, at, http.StatusUnsupportedMediaType, "UnsupportedMediaType", "this server knows server-side apply only", nil)
		return
	case manager == "" || len(manager) > 128:
		refuse(w, at, http.StatusUnprocessableEntity, "Invalid", "fieldManager is required for apply patch", nil)
		return
	}
	body, id, ok := s.read(w, at, raw)
	if !ok {
		return
	}
	m := id.Metadata
	old := s.objects[at.path]
	isNew := old == nil
	switch {
	case len(m.ManagedFields) > 0:
		refuse(w, at, http.StatusBadRequest, "BadRequest", "metadata.managedFields must be nil", nil)
		return
	case isNew && m.UID != "":
		s.refuseChanged(w, at, "uid mismatch: the provided object specified uid "+m.UID+", and no existing object was found")
		return
	case isNew:
		old = s.make(at)
	}
	next, conflicts := old.applied(manager, body)
	switch {
	case len(conflicts) > 0:
		refuseConflicts(w, at, conflicts)
	case !isNew && m.ResourceVersion != "" && m.ResourceVersion != "0" && m.ResourceVersion != dig(old.body, "metadata")["resourceVersion"]:
		s.refuseChanged(w, at, "the object has been modified; please apply your changes to the latest version and try again")
	case !isNew && m.UID != "" && m.UID != dig(old.body, "metadata")["uid"]:
		refuse(w, at, http.StatusUnprocessableEntity, "Invalid", fmt.Sprintf("%s %q is invalid: metadata.uid: field is immutable", at.kind, at.name),
			[]any{map[string]any{"reason": "FieldValueInvalid", "field": "metadata.uid"}})
	default:
		s.save(at.path, next)
		if isNew {
			w.WriteHeader(http.StatusCreated)
		}
		_, _ = w.Write(encode(s.objects[at.path].render()))
	}
}

func (s *Server) refuseChanged(w http.ResponseWriter, at place, why string) {
	refuse(w, at, http.StatusConflict, "Conflict", fmt.Sprintf("Operation cannot be fulfilled on %s %q: %s", at.resource, at.name, why), nil)
}

func refuseConflicts(w http.ResponseWriter, at place, conflicts []conflict) {
	var causes []any
	for _, c := range conflicts {
		causes = append(causes, map[string]any{"reason": "FieldManagerConflict",
			"message": fmt.Sprintf("conflict with %q using %s", c.manager, at.apiVersion), "field": c.field})
	}
	refuse(w, at, http.StatusConflict, "Conflict", "Apply failed with "+strconv.Itoa(len(conflicts))+" conflicts", causes)
}

// delete answers a deletion of an object that is there.
func (s *Server) delete(w http.ResponseWriter, at place, raw []byte) {
	var options struct {
		Preconditions struct{ UID, ResourceVersion *string }
	}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &options); err != nil {
			refuse(w, at, http.StatusBadRequest, "BadRequest", err.Error(), nil)
			return
		}
	}
	old := s.objects[at.path]
	metadata := dig(old.body, "metadata")
	if p := options.Preconditions.UID; p != nil && *p != metadata["uid"] {
		s.refuseChanged(w, at, "Precondition failed: UID in precondition: "+*p)
		return
	}
	if p := options.Preconditions.ResourceVersion; p != nil && *p != metadata["resourceVersion"] {
		s.refuseChanged(w, at, "Precondition failed: ResourceVersion in precondition: "+*p)
		return
	}
	if at.kind == "Namespace" && s.Finalizing {
		next := &object{copyOf(old.body), cloneOwners(old.owners)}
		dig(next.body, "metadata")["deletionTimestamp"] = "2026-01-02T00:00:00Z"
		dig(next.body, "status")["phase"] = "Terminating"
		s.save(at.path, next)
		_, _ = w.Write(encode(s.objects[at.path].render()))
		return
	}
	s.remove(at.path)
	_, _ = w.Write(encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"}))
}
