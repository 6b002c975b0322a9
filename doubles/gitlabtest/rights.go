package gitlabtest

import "net/http"

// Rights are what the bot and its token may do, as far as the server tells it. The server
// does not keep to them.
type Rights struct {
	Scopes  []string // of the token; nil if the server does not know tokens
	Expires string   // such as 2027-01-31; "" if the token does not expire
	Access  int      // role of the bot in the project
}

// self answers the request for the token itself.
func (s *Server) self(a *answer) {
	if s.Rights.Scopes == nil {
		a.refuse(http.StatusNotFound, "Not Found")
		return
	}
	token := map[string]any{"id": 1, "name": "prcheck", "scopes": s.Rights.Scopes, "active": true, "user_id": Bot,
		"expires_at": nil}
	if s.Rights.Expires != "" {
		token["expires_at"] = s.Rights.Expires
	}
	a.json(http.StatusOK, token)
}

// aboutProject answers the request for the project.
func (s *Server) aboutProject(a *answer) {
	shape := map[string]any{"id": Project, "permissions": map[string]any{
		"project_access": map[string]any{"access_level": s.Rights.Access}, "group_access": nil,
	}}
	if s.Repository != nil {
		s.Repository.addRules(shape)
	}
	a.json(http.StatusOK, shape)
}
