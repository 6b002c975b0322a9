package gitlabtest

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxField is the largest text of a status, in code points.
const maxField = 255

func (s *Server) listStatuses(a *answer, r *http.Request) {
	paged(s, a, r, s.latest(), Status.shape)
}

// latest returns the statuses that no later status of the same name replaced.
func (s *Server) latest() []Status {
	return slices.DeleteFunc(slices.Clone(s.statuses), func(s Status) bool { return s.superseded })
}

func (s Status) shape() map[string]any {
	return map[string]any{
		"id": s.ID, "sha": SHA, "ref": "refs/merge-requests/12/head", "status": s.State, "name": s.Name,
		"description": s.Description, "target_url": s.TargetURL, "pipeline_id": s.Pipeline, "allow_failure": false,
		"created_at": "2026-01-19T08:40:25.934Z", "started_at": nil, "finished_at": nil, "coverage": nil,
		"author": map[string]any{"id": s.Author, "username": "project_7_bot", "name": "prcheck", "state": "active"},
	}
}

func (s *Server) setStatus(a *answer, r *http.Request, sha string) {
	var in struct {
		State       string `json:"state"`
		Name        string `json:"name"`
		Description string `json:"description"`
		TargetURL   string `json:"target_url"`
		PipelineID  int    `json:"pipeline_id"`
	}
	if !s.read(a, r, &in) {
		return
	}
	for _, text := range []string{in.Name, in.Description, in.TargetURL} {
		if utf8.RuneCountInString(text) > maxField {
			s.report("a status has a text of more than %d characters", maxField)
			a.json(http.StatusBadRequest,
				map[string]any{"message": map[string]any{"name": []string{"is too long (maximum is 255 characters)"}}})
			return
		}
	}
	switch {
	case s.commits()[in.PipelineID] != sha:
		a.json(http.StatusNotFound, map[string]any{"message": "404 Pipeline for pipeline_id, sha and ref Not Found"})
		return
	case !slices.Contains([]string{"pending", "running", "success", "failed", "canceled"}, in.State):
		a.json(http.StatusBadRequest, map[string]any{"error": "state does not have a valid value"})
		return
	}
	for i := range s.statuses {
		if s.statuses[i].Name == in.Name && s.statuses[i].Pipeline == in.PipelineID {
			s.statuses[i].superseded = true
		}
	}
	made := Status{ID: s.next(), Pipeline: in.PipelineID, Author: Bot, Name: in.Name, State: in.State,
		Description: in.Description, TargetURL: in.TargetURL}
	s.statuses = append(s.statuses, made)
	a.json(http.StatusCreated, made.shape())
}

// commits returns the commit of each pipeline.
func (s *Server) commits() map[int]string {
	if s.Pipelines == nil {
		return map[int]string{Pipeline: SHA}
	}
	return s.Pipelines
}

// knows reports whether there is a pipeline of a commit.
func (s *Server) knows(sha string) bool {
	return slices.Contains(slices.Collect(maps.Values(s.commits())), sha)
}

// listJobs lists the bridges of a pipeline, which start another pipeline, or its other
// jobs.
func (s *Server) listJobs(a *answer, r *http.Request, pipeline int, kind string) {
	if kind != "bridges" && kind != "jobs" {
		a.refuse(http.StatusNotFound, "Not Found")
		return
	}
	paged(s, a, r, slices.DeleteFunc(slices.Clone(s.jobs), func(j Job) bool {
		return j.Pipeline != pipeline || (j.Child != 0) != (kind == "bridges")
	}), Job.shape)
}

func (j Job) shape() map[string]any {
	shape := map[string]any{
		"id": j.ID, "name": j.Name, "status": j.Status, "stage": "checks",
		"pipeline": map[string]any{"id": j.Pipeline, "project_id": Project},
	}
	if j.Child > 0 {
		shape["downstream_pipeline"] = map[string]any{"id": j.Child, "project_id": Project, "sha": SHA, "status": j.Status}
	}
	if j.Archive != nil {
		shape["artifacts_file"] = map[string]any{"filename": "artifacts.zip", "size": len(j.Archive)}
	}
	return shape
}

func (s *Server) artifacts(a *answer, id int) {
	i := slices.IndexFunc(s.jobs, func(j Job) bool { return j.ID == id && j.Archive != nil })
	switch {
	case i < 0:
		a.refuse(http.StatusNotFound, "Not found")
	case s.ArtifactsAt != "":
		a.status = http.StatusFound
		a.header.Set("Location", s.ArtifactsAt)
	default:
		a.status, a.body = http.StatusOK, s.jobs[i].Archive
		a.header.Set("Content-Type", "application/zip")
	}
}

// AddNote adds a note and returns its id.
func (s *Server) AddNote(n Note) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n.ID = s.next()
	s.notes = append(s.notes, n)
	return n.ID
}

// Notes returns the notes of the bot whose bodies begin with a marker.
func (s *Server) Notes(marker string) []Note {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.notes), func(n Note) bool {
		return n.Author != Bot || n.System || !strings.HasPrefix(n.Body, marker)
	})
}

// AddStatus adds a status.
func (s *Server) AddStatus(status Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status.ID = s.next()
	s.statuses = append(s.statuses, status)
}

// Statuses returns the statuses that no later status of the same name replaced.
func (s *Server) Statuses() []Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.latest()
}

// AddJob adds a job with its own id.
func (s *Server) AddJob(j Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs = append(s.jobs, j)
}

// Requests returns the method and URL of all requests, in order.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Wrong returns the reports about requests that a client must not send.
func (s *Server) Wrong() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.wrong)
}
