package gitlabtest

import "net/http"

// groupMembers lists the members of a group.
func (s *Server) groupMembers(a *answer, r *http.Request, path string) {
	members, isThere := s.Groups[path]
	if !isThere {
		a.refuse(http.StatusNotFound, "Group Not Found")
		return
	}
	paged(s, a, r, members, func(name string) map[string]any {
		return map[string]any{"id": len(name) + 600, "username": name, "name": name, "state": "active", "access_level": 30}
	})
}
