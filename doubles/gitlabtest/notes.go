package gitlabtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxBody is the largest body of a note, in code points.
const maxBody = 1_000_000

// noteTime is the time of notes without one.
const noteTime = "2026-01-19T08:40:25.934Z"

// shapeIn returns a note of a merge request as the API writes it.
func (n Note) shapeIn(iid int) map[string]any {
	name := map[int]string{Bot: "prcheck", Human: "Jane"}[n.Author]
	if n.By != "" {
		name = n.By
	}
	written, edited := noteTime, noteTime
	if !n.At.IsZero() {
		written, edited = stamp(n.At), stamp(n.At)
	}
	if !n.EditedAt.IsZero() {
		edited = stamp(n.EditedAt)
	}
	return map[string]any{
		"id": n.ID, "type": nil, "body": n.Body, "attachment": nil,
		"author":     map[string]any{"id": n.Author, "username": strings.ToLower(name), "name": name, "state": "active"},
		"created_at": written, "updated_at": edited,
		"system": n.System, "noteable_id": 377, "noteable_type": "MergeRequest", "project_id": Project, "noteable_iid": iid, //nolint:misspell // the word of the API
		"resolvable": false, "confidential": false, "internal": false, "commands_changes": map[string]any{},
	}
}

// allNotes lists the notes of a merge request, or adds one.
func (s *Server) allNotes(a *answer, r *http.Request, notes *[]Note, iid int) {
	switch r.Method {
	case http.MethodGet:
		if q := r.URL.Query(); q.Get("sort") != "asc" || q.Get("order_by") != "created_at" {
			s.report("notes are listed in an order that new ones shift")
		}
		paged(s, a, r, *notes, func(n Note) map[string]any { return n.shapeIn(iid) }, "sort", "order_by")
	case http.MethodPost:
		if text, ok := s.text(a, r); ok {
			n := Note{ID: s.next(), Author: Bot, Body: text}
			*notes = append(*notes, n)
			a.json(http.StatusCreated, n.shapeIn(iid))
		}
	default:
		a.refuse(http.StatusMethodNotAllowed, "Method Not Allowed")
	}
}

func (s *Server) oneNote(a *answer, r *http.Request, notes *[]Note, iid, id int) {
	i := slices.IndexFunc(*notes, func(n Note) bool { return n.ID == id })
	switch {
	case i < 0:
		a.refuse(http.StatusNotFound, "Not found")
	case r.Method == http.MethodGet:
		a.json(http.StatusOK, (*notes)[i].shapeIn(iid))
	case (*notes)[i].Author != Bot || (*notes)[i].System:
		s.report("%s of a note of somebody else", r.Method)
		a.refuse(http.StatusForbidden, "Forbidden")
	case r.Method == http.MethodPut:
		if text, ok := s.text(a, r); ok {
			(*notes)[i].Body = text
			a.json(http.StatusOK, (*notes)[i].shapeIn(iid))
		}
	case r.Method == http.MethodDelete:
		*notes = slices.Delete(*notes, i, i+1)
		a.status = http.StatusNoContent
	default:
		a.refuse(http.StatusMethodNotAllowed, "Method Not Allowed")
	}
}

// text reads the body of a note. GitLab removes the white space around it.
func (s *Server) text(a *answer, r *http.Request) (string, bool) {
	var in struct {
		Body *string `json:"body"`
	}
	if !s.read(a, r, &in) {
		return "", false
	}
	if in.Body == nil || *in.Body == "" {
		a.json(http.StatusBadRequest, map[string]any{"error": "body is missing"})
		return "", false
	}
	if n := utf8.RuneCountInString(*in.Body); n > maxBody {
		a.json(http.StatusBadRequest,
			map[string]any{"message": map[string]any{"note": []string{fmt.Sprintf("is too long (%d characters)", n)}}})
		return "", false
	}
	return strings.TrimSpace(*in.Body), true
}

// read reads the JSON body of a request, and reports a body that a client must not send.
func (s *Server) read(a *answer, r *http.Request, into any) bool {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		a.refuse(http.StatusBadRequest, "Bad Request")
		return false
	}
	if s.Token != "" && strings.Contains(string(raw), s.Token) {
		s.report("the token is in the body of %s %s", r.Method, r.URL.Path)
	}
	if kind := r.Header.Get("Content-Type"); kind != "application/json" {
		s.report("%s %s sends %q", r.Method, r.URL.Path, kind)
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		s.report("%s %s: %v", r.Method, r.URL.Path, err)
		a.refuse(http.StatusBadRequest, "Bad Request")
		return false
	}
	return true
}
