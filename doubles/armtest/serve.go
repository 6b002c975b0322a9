package armtest

import (
	"net/http"
	"slices"
	"strings"
)

// serve answers a request.
func (s *Server) serve(c *call) {
	if s.Token != "" && c.noted.Token != s.Token {
		c.answer.Header().Set("WWW-Authenticate", `Bearer realm="armtest"`)
		c.refuse(http.StatusUnauthorized, "AuthenticationFailed", "", "the request has no token, or a wrong one")
		return
	}
	if len(c.noted.Body) > maxBody {
		c.refuse(http.StatusRequestEntityTooLarge, "RequestContentTooLarge", "", "the body is too large")
		return
	}
	if c.mistake != "" {
		c.refuse(http.StatusBadRequest, "InvalidRequestUri", "", c.mistake)
		return
	}
	if s.throttled(c) || s.servesOperation(c) || s.servesDeleted(c) {
		return
	}
	a := s.match(c.parts)
	if a == nil {
		c.refuse(http.StatusNotFound, "InvalidResourceType", "", "no specification has this address")
		return
	}
	if !s.versionFits(c, a) {
		return
	}
	verb := strings.ToLower(c.r.Method)
	switch {
	case verb == "get" && a.isItem():
		s.get(c)
	case verb == "get" && s.items(a) != nil:
		s.list(c, s.items(a))
	case verb == "get":
		s.join(c, a)
	case !a.has(verb):
		c.refuse(http.StatusMethodNotAllowed, "MethodNotAllowed", "", "no specification has this verb here")
	case verb == "put":
		s.put(c, a)
	case verb == "patch":
		s.patch(c, a)
	case verb == "delete":
		s.delete(c, a)
	case verb == "post" && s.items(a) != nil:
		s.create(c, s.items(a))
	default:
		s.act(c)
	}
}

// versionFits checks api-version, and answers if it is wrong.
func (s *Server) versionFits(c *call, a *address) bool {
	switch {
	case len(a.versions) == 0 || slices.Contains(a.versions, c.noted.Version):
		return true
	case c.noted.Version == "":
		c.refuse(http.StatusBadRequest, "MissingApiVersionParameter", "", "the query has no api-version")
	default:
		known := "the type has no such api-version: " + strings.Join(a.versions, ", ")
		c.refuse(http.StatusBadRequest, "NoRegisteredProviderFound", "", known)
	}
	return false
}

// get answers a resource.
func (s *Server) get(c *call) {
	o := s.objects[key(c.id())]
	if o == nil || s.Now().Before(o.visible) {
		c.refuse(http.StatusNotFound, "ResourceNotFound", "", "the resource "+c.id()+" was not found")
		return
	}
	s.sendObject(c, http.StatusOK, o)
}

// list answers the resources of a collection, at most pageSize at once.
func (s *Server) list(c *call, item *address) {
	const pageSize = 50
	var ids []string
	for id, o := range s.objects {
		parts := strings.Split(strings.Trim(id, "/"), "/")
		isIn := item.fits(parts) && slices.EqualFunc(parts[:len(parts)-1], c.parts, strings.EqualFold)
		if isIn && !s.Now().Before(o.visible) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	after := key(c.r.URL.Query().Get("$skiptoken"))
	values, body := []any{}, map[string]any{}
	for _, id := range ids {
		if id <= after {
			continue
		}
		if len(values) == pageSize {
			query := c.r.URL.Query()
			query.Set("$skiptoken", values[pageSize-1].(map[string]any)["id"].(string)) // whole puts it there
			body["nextLink"] = c.endpoint + c.r.URL.EscapedPath() + "?" + query.Encode()
			break
		}
		values = append(values, s.whole(s.objects[id]))
	}
	body["value"] = values
	c.send(http.StatusOK, body)
}

// join answers what stands below a resource and is read only.
func (s *Server) join(c *call, a *address) {
	above := c.parts[:len(c.parts)-1]
	o := s.objects[key("/"+strings.Join(above, "/"))]
	if o == nil {
		c.refuse(http.StatusNotFound, "ResourceNotFound", "", "the resource was not found")
		return
	}
	for name, body := range s.behaviours[o.kind].Joins {
		if strings.EqualFold(name, a.last()) {
			c.send(http.StatusOK, body)
			return
		}
	}
	c.refuse(http.StatusNotFound, "NotFound", "", "there is nothing at this address")
}

// act answers an action, which changes nothing here.
func (s *Server) act(c *call) {
	if s.objects[key("/"+strings.Join(c.parts[:len(c.parts)-1], "/"))] == nil {
		c.refuse(http.StatusNotFound, "ResourceNotFound", "", "the resource was not found")
		return
	}
	c.send(http.StatusOK, map[string]any{})
}
