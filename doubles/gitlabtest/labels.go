package gitlabtest

import (
	"net/http"
	"slices"
	"strings"
)

// SetLabels sets the labels of the merge request.
func (s *Server) SetLabels(labels ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.labels = labels
}

// mergeRequest answers with the merge request.
func (s *Server) mergeRequest(a *answer) {
	labels := s.labels
	if labels == nil {
		labels = []string{}
	}
	p := s.change
	a.json(http.StatusOK, map[string]any{"id": 1000 + IID, "iid": IID, "project_id": Project, "labels": labels,
		"sha": p.head(), "description": p.Description, "created_at": stamp(p.Opened),
		"author": Person{ID: 77, Username: p.Author, Name: p.Author}.shape()})
}

// labelsOf splits the labels of a request, as the API takes them.
func labelsOf(text string) []string {
	out := strings.Split(text, ",")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return slices.DeleteFunc(out, func(l string) bool { return l == "" })
}
