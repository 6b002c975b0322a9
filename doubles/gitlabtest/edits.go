package gitlabtest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// graphqlPath is the address of GraphQL.
const graphqlPath = "/api/graphql"

// pageOfNotes is how many notes GraphQL shows at once.
const pageOfNotes = 100

// edits answers the one query of GraphQL that is known here: who changed the notes of the merge request last. In it a
// field that is not known is an error, as in every query.
func (s *Server) edits(a *answer, r *http.Request) {
	var in struct {
		Query     string
		Variables struct{ ID, After string }
	}
	if !s.read(a, r, &in) {
		return
	}
	fields := strings.Join(strings.Fields(in.Query), " ")
	const known = "query Edits($id: MergeRequestID!, $after: String) { mergeRequest(id: $id) { notes(first: 100, " +
		"after: $after) { nodes { id lastEditedAt lastEditedBy { username } } pageInfo { hasNextPage endCursor } } } }"
	if s.NoEdits || fields != known {
		a.json(http.StatusOK, map[string]any{"errors": []any{map[string]any{"message": "Field 'lastEditedBy' doesn't exist " +
			"on type 'Note'"}}})
		return
	}
	if in.Variables.ID != fmt.Sprintf("gid://gitlab/MergeRequest/%d", 1000+IID) {
		a.json(http.StatusOK, map[string]any{"data": map[string]any{"mergeRequest": nil}})
		return
	}
	from, err := strconv.Atoi(in.Variables.After)
	if in.Variables.After != "" && err != nil || from < 0 || from > len(s.notes) {
		a.json(http.StatusOK, map[string]any{"errors": []any{map[string]any{"message": "Please provide a valid cursor"}}})
		return
	}
	nodes := []any{}
	for _, n := range s.notes[from:min(from+pageOfNotes, len(s.notes))] {
		nodes = append(nodes, n.edit())
	}
	end := from + len(nodes)
	a.json(http.StatusOK, map[string]any{"data": map[string]any{"mergeRequest": map[string]any{"notes": map[string]any{
		"nodes": nodes, "pageInfo": map[string]any{"hasNextPage": end < len(s.notes), "endCursor": itoa(end)}}}}})
}

// edit returns who changed a note last as GraphQL writes it.
func (n Note) edit() map[string]any {
	kind := "Note"
	if n.ID%2 == 0 {
		kind = "DiffNote"
	}
	out := map[string]any{"id": fmt.Sprintf("gid://gitlab/%s/%d", kind, n.ID), "lastEditedAt": nil, "lastEditedBy": nil}
	if n.EditedBy != "" {
		out["lastEditedAt"], out["lastEditedBy"] = stamp(n.textAt), map[string]any{"username": n.EditedBy}
	}
	return out
}
