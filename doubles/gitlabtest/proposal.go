package gitlabtest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// A Proposal is what a merge request proposes, and who approved it, of a server without a [Repository].
type Proposal struct {
	Author, Description string
	Opened              time.Time
	Versions            []Version // the oldest first
	Approvers           []string  // by the button

	pushed string // the head, if it is no version yet
}

// A Version is a state of the change of a merge request.
type Version struct {
	Head, Base string
	At         time.Time // when it was pushed
}

// SetProposal sets what the merge request proposes.
func (s *Server) SetProposal(p Proposal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change = p
}

// Push gives the merge request a new version.
func (s *Server) Push(v Version) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change.Versions = append(s.change.Versions, v)
}

// SetHead lets the merge request have a head that is no version yet.
func (s *Server) SetHead(sha string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change.pushed = sha
}

// AddPipeline adds a pipeline of a commit.
func (s *Server) AddPipeline(id int, sha string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[int]string{id: sha}
	for other, of := range s.commits() {
		all[other] = of
	}
	s.Pipelines = all
}

// Labels returns the labels of the merge request.
func (s *Server) Labels() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.labels)
}

// EditNote lets somebody change a note at a time. Without a name its text stays: somebody reacted to it.
func (s *Server) EditNote(id int, by, body string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.notes {
		if n := &s.notes[i]; n.ID == id {
			n.EditedAt = at
			if by != "" {
				n.Body, n.EditedBy, n.textAt = body, by, at
			}
		}
	}
}

// pipelineOf returns the newest pipeline of a commit, 0 if there is none.
func (s *Server) pipelineOf(sha string) int {
	newest := 0
	for id, of := range s.commits() {
		if of == sha {
			newest = max(newest, id)
		}
	}
	return newest
}

// stamp writes a time as the API does.
func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// head returns the newest commit of the merge request.
func (p Proposal) head() string {
	if p.pushed != "" || len(p.Versions) == 0 {
		return cmp.Or(p.pushed, SHA)
	}
	return p.Versions[len(p.Versions)-1].Head
}

// serveProposal answers requests about what the merge request proposes; false if it is about something else.
func (s *Server) serveProposal(a *answer, r *http.Request, rest string) bool {
	at := fmt.Sprintf("merge_requests/%d", IID)
	switch r.Method + " " + rest {
	case "PUT " + at:
		s.setLabels(a, r)
	case "GET " + at + "/versions":
		serveVersions(s, a, r, IID, s.change.Versions)
	case "GET " + at + "/approvals":
		by := []any{}
		for i, name := range s.change.Approvers {
			by = append(by, map[string]any{"user": Person{ID: 500 + i, Username: name, Name: name}.shape()})
		}
		a.json(http.StatusOK, map[string]any{"id": 1000 + IID, "iid": IID, "project_id": Project, "approved": true,
			"approved_by": by})
	default:
		return false
	}
	return true
}

// serveVersions answers with the versions of a merge request.
func serveVersions(s *Server, a *answer, r *http.Request, iid int, versions []Version) {
	all := slices.Clone(versions)
	slices.Reverse(all) // the newest first
	paged(s, a, r, all, func(v Version) map[string]any {
		return map[string]any{"id": 100, "head_commit_sha": v.Head, "base_commit_sha": v.Base,
			"start_commit_sha": v.Base, "created_at": stamp(v.At), "merge_request_id": 1000 + iid, "state": "collected",
			"real_size": "1"}
	})
}

// setLabels adds labels to the merge request and removes some.
func (s *Server) setLabels(a *answer, r *http.Request) {
	var in struct {
		Add    string `json:"add_labels"`
		Remove string `json:"remove_labels"`
	}
	if !s.read(a, r, &in) {
		return
	}
	for _, label := range labelsOf(in.Add) {
		if !slices.Contains(s.labels, label) {
			s.labels = append(s.labels, label)
		}
	}
	s.labels = slices.DeleteFunc(slices.Clone(s.labels), func(l string) bool {
		return slices.Contains(labelsOf(in.Remove), l)
	})
	s.mergeRequest(a)
}

// SetApprovers sets who approve the merge request by the button.
func (s *Server) SetApprovers(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change.Approvers = names
}
