package armtest

import (
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
)

// owned are the members that the service alone sets, whatever the type.
var owned = []string{"id", "name", "type", "etag", "systemData", "properties.provisioningState"}

// strip removes from a body what the service sets.
func strip(body map[string]any, b Behaviour) {
	for _, path := range slices.Concat(owned, b.ReadOnly) {
		unset(body, path)
	}
	for path := range b.Computed {
		unset(body, path)
	}
}

// object returns the body of a request, and answers if it is none.
func (c *call) object() (map[string]any, bool) {
	media, _, err := mime.ParseMediaType(c.noted.Type)
	if err != nil || media != "application/json" && media != "application/merge-patch+json" {
		c.refuse(http.StatusUnsupportedMediaType, "UnsupportedMediaType", "", "the body must be application/json")
		return nil, false
	}
	v, err := decode([]byte(c.noted.Body))
	if body, ok := v.(map[string]any); ok && err == nil {
		return body, true
	}
	c.refuse(http.StatusBadRequest, "InvalidRequestContent", "", "the body must be one JSON object")
	return nil, false
}

// put creates or replaces a resource.
func (s *Server) put(c *call, a *address) {
	body, ok := c.object()
	if !ok {
		return
	}
	id := key(c.id())
	old := s.objects[id]
	if !s.admits(c, a.kind, old) {
		return
	}
	recovers, _ := get(body, "properties.createMode")
	if gone := s.deleted[id]; gone != nil && old == nil {
		if recovers != "recover" {
			c.refuse(http.StatusConflict, "ConflictError", "", "a deleted resource reserves the name: recover or purge it")
			return
		}
		delete(s.deleted, id)
	}
	unset(body, "properties.createMode")
	s.accept(c, a.kind, old, body, true)
}

// patch merges a body into a resource.
func (s *Server) patch(c *call, a *address) {
	patch, ok := c.object()
	if !ok {
		return
	}
	old := s.objects[key(c.id())]
	if old == nil {
		c.refuse(http.StatusNotFound, "ResourceNotFound", "", "the resource was not found")
		return
	}
	if !s.admits(c, a.kind, old) {
		return
	}
	if takes := s.behaviours[a.kind].Patch; takes != nil {
		rest := clone(patch)
		for _, path := range takes {
			unset(rest, path)
		}
		if path := firstLeaf(rest, ""); path != "" {
			c.refuse(http.StatusBadRequest, "InvalidPatch", path, "PATCH does not take "+path)
			return
		}
	}
	body := clone(old.body)
	mergePatch(body, patch)
	s.accept(c, a.kind, old, body, false)
}

// firstLeaf returns the path of a value that is no empty object, "" if there is none.
func firstLeaf(v any, path string) string {
	object, ok := v.(map[string]any)
	if !ok {
		return path
	}
	for k, x := range object {
		if found := firstLeaf(x, strings.TrimPrefix(path+"."+k, ".")); found != "" {
			return found
		}
	}
	return ""
}

// create makes a resource in a collection, under a name that the service chooses.
func (s *Server) create(c *call, item *address) {
	body, ok := c.object()
	if !ok {
		return
	}
	s.version++
	c.parts = append(c.parts, fmt.Sprintf("n%d", s.version))
	if !s.admits(c, item.kind, nil) {
		return
	}
	c.answer.Header().Set("Location", c.endpoint+c.id())
	s.accept(c, item.kind, nil, body, true)
}

// delete removes a resource.
func (s *Server) delete(c *call, a *address) {
	o := s.objects[key(c.id())]
	if o == nil {
		c.send(http.StatusNoContent, nil)
		return
	}
	if s.admits(c, a.kind, o) {
		s.start(c, o, c.r.Method, nil)
	}
}

// admits checks everything but the body of a write, and answers if it is refused.
func (s *Server) admits(c *call, kind string, old *object) bool {
	b, id := s.behaviours[kind], key(c.id())
	c.noted.Running = old != nil && old.running != nil
	match := c.noted.IfMatch
	switch {
	case c.noted.IfNoneMatch == "*" && old != nil, match == "*" && old == nil,
		match != "" && match != "*" && b.ETag != NoETag && (old == nil || match != old.etag()):
		c.refuse(http.StatusPreconditionFailed, "PreconditionFailed", "", "the resource is not as the header says")
	case s.isLocked(id, c.r.Method):
		c.refuse(http.StatusConflict, "ScopeLocked", "", "the scope is locked; remove the lock and try again")
	case old == nil && !s.hasParent(c.parts):
		c.refuse(http.StatusNotFound, "ParentResourceNotFound", "", "the parent of "+c.id()+" was not found")
	case s.isBusy(id, b):
		c.answer.Header().Set("Retry-After", "5")
		c.refuse(http.StatusConflict, "AnotherOperationInProgress", "", "another operation on this resource is in progress")
	default:
		return true
	}
	return false
}

// isLocked reports whether a lock forbids a write.
func (s *Server) isLocked(id, method string) bool {
	for scope, level := range s.locks {
		if (id == scope || strings.HasPrefix(id, scope+"/")) && (level == "ReadOnly" || method == http.MethodDelete) {
			return true
		}
	}
	return false
}

// hasParent reports whether the nearest resource above an address is there. One that no
// specification describes counts as there.
func (s *Server) hasParent(parts []string) bool {
	for n := len(parts) - 1; n > 0; n-- {
		if a := s.match(parts[:n]); a != nil && a.isItem() {
			return s.objects[key("/"+strings.Join(parts[:n], "/"))] != nil
		}
	}
	return true
}

// isBusy reports whether an operation that is going on forbids another one.
func (s *Server) isBusy(id string, b Behaviour) bool {
	if o := s.objects[id]; o != nil && o.running != nil {
		return true
	}
	parts := strings.Split(id, "/")
	parent := strings.Join(parts[:max(len(parts)-2, 0)], "/")
	for other, o := range s.objects {
		if o.running != nil && b.Alone && (other == parent || strings.HasPrefix(other, parent+"/")) {
			return true
		}
	}
	return false
}
