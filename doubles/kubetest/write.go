package kubetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	failure "k8s.io/apimachinery/pkg/api/errors"
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
	case err != nil || body == nil:
		refuse(w, at, http.StatusBadRequest, "BadRequest", fmt.Sprint("error decoding: ", err), nil)
	case id.APIVersion != at.apiVersion || id.Kind != at.kind || m.Namespace != "" && m.Namespace != at.namespace ||
		at.name != "" && m.Name != at.name:
		refuse(w, at, http.StatusBadRequest, "BadRequest", "the object is not that of the URL", nil)
	case m.Name == "" || strings.ToLower(m.Name) != m.Name || len(m.Name) > longestName(at.kind):
		refuse(w, at, http.StatusUnprocessableEntity, "Invalid",
			fmt.Sprintf("%s %q is invalid: metadata.name: Invalid value: %q", at.kind, m.Name, m.Name),
			[]any{map[string]any{"reason": "FieldValueInvalid", "field": "metadata.name"}})
	default:
		return body, id, true
	}
	return nil, id, false
}

// longestName returns how many characters the names of a kind may have.
func longestName(kind string) int {
	switch kind {
	case "Namespace", "Service":
		return 63
	case "CronJob":
		return 52
	}
	return 253
}

// hasRoom reports whether an object can be made at a place, and answers if it cannot.
func (s *Server) hasRoom(w http.ResponseWriter, at place) bool {
	if at.namespace == "" {
		return true
	}
	in := s.objects["/api/v1/namespaces/"+at.namespace]
	if in == nil {
		at.name, at.resource = at.namespace, "namespaces"
		refuse(w, at, http.StatusNotFound, "NotFound", fmt.Sprintf("namespaces %q not found", at.namespace), nil)
		return false
	}
	if dig(in.body, "metadata")["deletionTimestamp"] != nil {
		refuse(w, at, http.StatusForbidden, "Forbidden",
			fmt.Sprintf("%s %q is forbidden: unable to create new content in namespace %s because it is being terminated",
				at.resource, at.name, at.namespace),
			[]any{map[string]any{"reason": "NamespaceTerminating", "field": "metadata.namespace"}})
		return false
	}
	return true
}

// create answers a POST.
func (s *Server) create(w http.ResponseWriter, r *http.Request, at place, raw []byte) {
	body, id, ok := s.read(w, at, raw)
	if !ok || !s.hasRoom(w, at) {
		return
	}
	at.name, at.path = id.Metadata.Name, at.path+"/"+id.Metadata.Name
	if s.objects[at.path] != nil {
		refuse(w, at, http.StatusConflict, "AlreadyExists", fmt.Sprintf("%s %q already exists", at.resource, at.name), nil)
		return
	}
	m := s.model(at)
	if err := m.unknownFields(body); err != nil && isStrict(r) {
		refuse(w, at, http.StatusBadRequest, "BadRequest", fmt.Sprintf("%s in version %q cannot be handled as a %s: %v",
			at.kind, at.apiVersion, at.kind, err), nil)
		return
	}
	next, err := m.complete(body)
	if err == nil {
		next, err = m.update(m.empty(), keepStatus(next, m.empty()), managerOf(r))
	}
	if err != nil {
		fail(w, at, err)
		return
	}
	s.keep(w, r, at, next)
}

// managerOf returns the field manager that a request names.
func managerOf(r *http.Request) string {
	agent, _, _ := strings.Cut(r.UserAgent(), "/")
	if m := r.URL.Query().Get("fieldManager"); m != "" {
		return m
	}
	return agent
}

func isStrict(r *http.Request) bool { return r.URL.Query().Get("fieldValidation") == "Strict" }

// apply answers a server-side apply.
func (s *Server) apply(w http.ResponseWriter, r *http.Request, at place, raw []byte) {
	manager := r.URL.Query().Get("fieldManager")
	if manager == "" || len(manager) > 128 {
		refuse(w, at, http.StatusUnprocessableEntity, "Invalid", "fieldManager is required for apply patch", nil)
		return
	}
	body, id, ok := s.read(w, at, raw)
	if !ok {
		return
	}
	live := blank(at)
	if old := s.objects[at.path]; old != nil {
		live = old.body
	} else if !s.hasRoom(w, at) {
		return
	} else if id.Metadata.UID != "" {
		s.refuseChanged(w, at, "uid mismatch: the provided object specified uid "+id.Metadata.UID+
			", and no existing object was found")
		return
	}
	next, err := s.model(at).apply(live, body, manager, r.URL.Query().Get("force") == "true")
	if err != nil {
		fail(w, at, err)
		return
	}
	s.keep(w, r, at, next)
}

// fail answers with an error of the code that merges fields. It knows conflicts and wrong
// requests; the rest is a failure of the server.
func fail(w http.ResponseWriter, at place, err error) {
	var known failure.APIStatus
	if !errors.As(err, &known) {
		refuse(w, at, http.StatusInternalServerError, "", err.Error(), nil)
		return
	}
	status := known.Status()
	status.Kind, status.APIVersion = "Status", "v1"
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status.Code))
	_, _ = w.Write(encode(status))
}

// keep checks an object, keeps it, unless the request only tries, and answers.
func (s *Server) keep(w http.ResponseWriter, r *http.Request, at place, next map[string]any) {
	old := s.objects[at.path]
	if old == nil {
		next = s.born(next, at)
		if causes := check(at.kind, next, nil); len(causes) > 0 {
			refuseInvalid(w, at, causes)
			return
		}
		if !s.admit(w, at, next) {
			return
		}
		if !isDry(r) {
			s.save(at.path, next)
			next = s.objects[at.path].body
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(encode(next))
		return
	}
	if !s.prepare(w, at, next, old.body) {
		return
	}
	if equal(withoutTimes(next), withoutTimes(old.body)) {
		_, _ = w.Write(old.raw)
		return
	}
	if !isDry(r) {
		s.save(at.path, next)
	}
	_, _ = w.Write(encode(next))
}

// prepare sets what a change cannot set, and answers if the change is refused.
func (s *Server) prepare(w http.ResponseWriter, at place, next, live map[string]any) bool {
	m, was := dig(next, "metadata"), dig(live, "metadata")
	switch version := textOf(m["resourceVersion"]); {
	case version != "" && version != "0" && version != was["resourceVersion"]:
		s.refuseChanged(w, at, "the object has been modified; please apply your changes to the latest version and try again")
		return false
	case m["uid"] != nil && m["uid"] != was["uid"]:
		refuseInvalid(w, at, []cause{{"metadata.uid", "field is immutable"}})
		return false
	}
	for _, field := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp",
		"deletionGracePeriodSeconds"} {
		m[field] = was[field]
		if was[field] == nil {
			delete(m, field)
		}
	}
	keepAllocated(next, live)
	countGeneration(next, live)
	causes := check(at.kind, next, live)
	if len(causes) > 0 {
		refuseInvalid(w, at, causes)
	}
	return len(causes) == 0
}

// A cause is a field that is wrong.
type cause struct{ field, message string }

func refuseInvalid(w http.ResponseWriter, at place, causes []cause) {
	var told []any
	var texts []string
	for _, c := range causes {
		texts = append(texts, c.field+": "+c.message)
		told = append(told, map[string]any{"reason": "FieldValueInvalid", "message": c.message, "field": c.field})
	}
	text := strings.Join(texts, ", ")
	if len(texts) > 1 {
		text = "[" + text + "]"
	}
	name := at.kind
	if at.group != "" {
		name += "." + at.group
	}
	refuse(w, at, http.StatusUnprocessableEntity, "Invalid", fmt.Sprintf("%s %q is invalid: %s", name, at.name, text),
		told)
}

func (s *Server) refuseChanged(w http.ResponseWriter, at place, why string) {
	refuse(w, at, http.StatusConflict, "Conflict", fmt.Sprintf("Operation cannot be fulfilled on %s %q: %s", at.resource,
		at.name, why), nil)
}

// delete answers a deletion of an object that is there.
func (s *Server) delete(w http.ResponseWriter, r *http.Request, at place, raw []byte) {
	var options struct {
		Preconditions     struct{ UID, ResourceVersion *string }
		PropagationPolicy string
		DryRun            []string
	}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &options); err != nil {
			refuse(w, at, http.StatusBadRequest, "BadRequest", err.Error(), nil)
			return
		}
	}
	metadata := dig(s.objects[at.path].body, "metadata")
	if p := options.Preconditions.UID; p != nil && *p != metadata["uid"] {
		s.refuseChanged(w, at, "Precondition failed: UID in precondition: "+*p)
		return
	}
	if p := options.Preconditions.ResourceVersion; p != nil && *p != metadata["resourceVersion"] {
		s.refuseChanged(w, at, "Precondition failed: ResourceVersion in precondition: "+*p)
		return
	}
	dry := slices.Contains(options.DryRun, "All") || len(raw) == 0 && isDry(r) // a body replaces the query
	if !dry {
		s.doom(at, options.PropagationPolicy)
	}
	if left := s.objects[at.path]; left != nil && !dry {
		_, _ = w.Write(left.raw)
		return
	}
	_, _ = w.Write(encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"}))
}
