package gitlabtest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// serveRequests answers requests about merge requests.
func (r *Repository) serveRequests(s *Server, a *answer, req *http.Request, parts []string) {
	if len(parts) == 0 {
		switch req.Method {
		case http.MethodGet:
			r.listRequests(s, a, req)
		case http.MethodPost:
			r.addRequest(s, a, req)
		default:
			a.refuse(http.StatusMethodNotAllowed, "Method Not Allowed")
		}
		return
	}
	m := r.find(number(parts[0]))
	if m == nil {
		a.refuse(http.StatusNotFound, "Not found")
		return
	}
	if len(parts) > 1 && parts[1] == "notes" {
		r.serveNotes(s, a, req, m, parts[2:])
		return
	}
	switch what := req.Method + " " + strings.Join(parts[1:], "/"); what {
	case "GET ":
		shape := r.shape(m)
		shape["diff_refs"] = map[string]any{"base_sha": r.git.mergeBase(r.git.head(m.Target), m.Head), "head_sha": m.Head,
			"start_sha": r.git.head(m.Target)}
		shape["head_pipeline"] = r.pipelineShape(m.Head)
		r.addRebase(m, shape)
		a.json(http.StatusOK, shape)
	case "PUT ":
		r.edit(s, a, req, m)
	case "PUT merge":
		r.accept(s, a, req, m)
	case "POST cancel_merge_when_pipeline_succeeds":
		m.Armed = false
		a.json(http.StatusCreated, r.shape(m))
	case "PUT rebase":
		r.askForRebase(m, req).send(a, http.StatusAccepted, map[string]any{"rebase_in_progress": true})
	case "GET resource_label_events":
		paged(s, a, req, m.events, func(e map[string]any) map[string]any { return e })
	case "POST approve":
		r.approve(m, TheBot)
		a.json(http.StatusCreated, r.approvalShape(m))
	case "GET versions":
		serveVersions(s, a, req, m.IID, m.versions)
	case "GET approvals":
		a.json(http.StatusOK, r.approvalShape(m))
	case "GET commits":
		paged(s, a, req, r.own(m), commit.shape)
	case "GET diffs":
		paged(s, a, req, r.diffs(r.git.mergeBase(r.git.head(m.Target), m.Head), m.Head),
			func(d map[string]any) map[string]any { return d })
	case "GET pipelines":
		paged(s, a, req, r.pipelinesOf(m), func(d map[string]any) map[string]any { return d })
	default:
		a.refuse(http.StatusNotFound, "Not Found")
	}
}

// pipelinesOf returns the pipelines of a merge request.
func (r *Repository) pipelinesOf(m *mergeRequest) []map[string]any {
	if p := r.pipelineShape(m.Head); p != nil {
		return []map[string]any{p}
	}
	return []map[string]any{}
}

// own returns the commits of a merge request, newest first.
func (r *Repository) own(m *mergeRequest) []commit {
	var out []commit
	r.git.walk(m.Head, func(c commit) bool {
		if !r.git.isAncestor(c.id, r.git.head(m.Target)) {
			out = append(out, c)
		}
		return true
	})
	return out
}

// shape returns a person as the API writes them.
func (p Person) shape() any {
	if p.ID == 0 {
		return nil
	}
	return map[string]any{"id": p.ID, "username": p.Username, "name": p.Name, "state": "active"}
}

// shape returns a merge request as a list of the API has it.
func (r *Repository) shape(m *mergeRequest) map[string]any {
	status, hasConflicts := r.mergeable(m), m.State == opened && r.conflicts(m)
	if pair := m.Head + r.git.head(m.Target); r.Late && m.State == opened && m.checked != pair {
		m.checked, status, hasConflicts = pair, checking, false
	}
	old := map[string]string{mergeable: "can_be_merged", conflict: "cannot_be_merged", checking: checking}[status]
	if old == "" {
		old = "can_be_merged"
	}
	shape := map[string]any{
		"id": 5000 + m.IID, "iid": m.IID, "project_id": Project, "title": m.Title, "description": m.Description,
		"state":         m.State,
		"source_branch": m.Source, "target_branch": m.Target, "sha": m.Head, "labels": append([]string{}, m.Labels...),
		"author":            m.By.shape(),
		"source_project_id": Project, "target_project_id": Project, "draft": status == "draft_status",
		"work_in_progress":             status == "draft_status",
		"merge_when_pipeline_succeeds": m.Armed, "merge_status": old, "detailed_merge_status": status,
		"has_conflicts":    hasConflicts,
		"merge_commit_sha": nil, "squash_commit_sha": nil, "merged_by": m.mergedBy.shape(), "merge_user": m.mergedBy.shape(),
		"closed_by":  m.ClosedBy.shape(),
		"created_at": m.Opened.Format(time.RFC3339), "updated_at": m.updated.Format(time.RFC3339), "merged_at": nil,
		"closed_at":                  nil,
		"force_remove_source_branch": m.removeSource, "should_remove_source_branch": m.removeSource,
		"user_notes_count":              len(m.notes),
		"web_url":                       "https://gitlab.test/" + ProjectPath + "/-/merge_requests/" + itoa(m.IID),
		"blocking_discussions_resolved": true,
	}
	switch ended := m.Ended.Format(time.RFC3339); m.State {
	case merged:
		shape["merged_at"], shape["merge_commit_sha"] = ended, m.Merged
	case closed:
		shape["closed_at"] = ended
	}
	return shape
}

func (r *Repository) pipelineShape(sha string) map[string]any {
	if r.pipelines[sha] == "" {
		return nil
	}
	return map[string]any{"id": number("9" + itoa(len(sha))), "sha": sha, "ref": "refs/merge-requests/head",
		"status": r.pipelines[sha], "project_id": Project}
}

func (r *Repository) approvalShape(m *mergeRequest) map[string]any {
	by := []any{}
	for _, p := range m.approvers {
		by = append(by, map[string]any{"user": p.shape()})
	}
	left := max(0, r.Approvals-len(by))
	return map[string]any{"id": 5000 + m.IID, "iid": m.IID, "project_id": Project, "approved": left == 0,
		"approvals_required": r.Approvals, "approvals_left": left, "approved_by": by}
}

func (r *Repository) listRequests(s *Server, a *answer, req *http.Request) {
	q := req.URL.Query()
	among := r.requests
	if q.Has("source_branch") {
		among = r.from[q.Get("source_branch")]
	}
	var all []*mergeRequest
	for _, m := range among {
		fits := func(name, value string) bool { return !q.Has(name) || q.Get(name) == value }
		hasLabels := !slices.ContainsFunc(labelsOf(q.Get("labels")), func(l string) bool {
			return !slices.Contains(m.Labels, l)
		})
		text := strings.ToLower(q.Get("search"))
		found := text == "" || strings.Contains(strings.ToLower(m.Title), text) ||
			q.Get("in") != "title" && strings.Contains(strings.ToLower(m.Description), text)
		if (q.Get("state") == "all" || fits("state", m.State)) && fits("source_branch", m.Source) &&
			fits("target_branch", m.Target) && fits("author_id", itoa(m.By.ID)) && hasLabels && found {
			all = append(all, m)
		}
	}
	if state := q.Get("state"); q.Has("state") && !slices.Contains([]string{opened, closed, merged, "locked", "all"},
		state) {
		a.json(http.StatusBadRequest, map[string]any{"error": "state does not have a valid value"})
		return
	}
	if q.Get("sort") != "asc" { // the newest first is what GitLab does when nobody says
		slices.Reverse(all)
	}
	paged(s, a, req, all, r.shape, "state", "source_branch", "target_branch", "labels", "search", "in", "author_id",
		"sort", "order_by", "scope", "with_merge_status_recheck", "with_labels_details", "updated_after")
}

// A requestBody is the body of a request that makes or changes a merge request.
type requestBody struct {
	Title        *string `json:"title"`
	Description  *string `json:"description"`
	Source       string  `json:"source_branch"`
	Target       string  `json:"target_branch"`
	Labels       *string `json:"labels"`
	AddLabels    string  `json:"add_labels"`
	RemoveLabels string  `json:"remove_labels"`
	StateEvent   string  `json:"state_event"`
	RemoveSource *bool   `json:"remove_source_branch"`
	Squash       *bool   `json:"squash"`
}

func (r *Repository) addRequest(s *Server, a *answer, req *http.Request) {
	var in requestBody
	if !s.read(a, req, &in) {
		return
	}
	m := MergeRequest{Source: in.Source, Target: in.Target, By: TheBot}
	if in.Title != nil {
		m.Title = *in.Title
	}
	made, refused := r.add(m)
	if refused != nil {
		refused.send(a, 0, nil)
		return
	}
	r.change(made, in)
	a.json(http.StatusCreated, r.shape(made))
}

// change carries out what a body says, except opening and closing.
func (r *Repository) change(m *mergeRequest, in requestBody) {
	defer r.noteLabels(m, TheBot, slices.Clone(m.Labels))
	if in.Title != nil {
		m.Title = *in.Title
	}
	if in.Description != nil {
		m.Description = *in.Description
	}
	if in.Labels != nil {
		m.Labels = labelsOf(*in.Labels)
	}
	m.Labels = slices.DeleteFunc(append(m.Labels, labelsOf(in.AddLabels)...), func(l string) bool {
		return slices.Contains(labelsOf(in.RemoveLabels), l)
	})
	slices.Sort(m.Labels)
	m.Labels = slices.Compact(m.Labels)
	if in.RemoveSource != nil {
		m.removeSource = *in.RemoveSource
	}
	m.updated = r.tick()
}

func (r *Repository) edit(s *Server, a *answer, req *http.Request, m *mergeRequest) {
	var in requestBody
	if !s.read(a, req, &in) {
		return
	}
	switch {
	case in.StateEvent != "" && in.StateEvent != "close" && in.StateEvent != "reopen":
		a.json(http.StatusBadRequest, map[string]any{"error": "state_event does not have a valid value"})
		return
	case in.StateEvent == "reopen" && (m.State != closed || r.openOf(m.Source, m.Target) != nil ||
		r.git.head(m.Source) == ""):
		a.json(http.StatusConflict,
			map[string]any{"message": []string{"Another open merge request already exists for this source branch"}})
		return
	case in.StateEvent == "reopen":
		m.State, m.ClosedBy, r.open = opened, Person{}, append(r.open, m)
	case in.StateEvent == "close":
		r.close(m, TheBot)
	}
	r.change(m, in)
	a.json(http.StatusOK, r.shape(m))
}

// accept merges a merge request, or arms it: it is merged as soon as it can be.
func (r *Repository) accept(s *Server, a *answer, req *http.Request, m *mergeRequest) {
	var in struct {
		SHA          string  `json:"sha"`
		Arm          bool    `json:"merge_when_pipeline_succeeds"`
		AutoMerge    bool    `json:"auto_merge"`
		Message      *string `json:"merge_commit_message"`
		SquashText   *string `json:"squash_commit_message"`
		Squash       *bool   `json:"squash"`
		RemoveSource *bool   `json:"should_remove_source_branch"`
	}
	if req.ContentLength != 0 && !s.read(a, req, &in) {
		return
	}
	why, arms := r.mergeable(m), in.Arm || in.AutoMerge
	var refused *refusal
	switch {
	case in.SHA != "" && in.SHA != m.Head:
		refused = refuse(http.StatusConflict, "SHA does not match HEAD of source branch: %s", m.Head)
	case arms && m.Armed:
		refused = refuse(http.StatusConflict, "409 Conflict")
	case arms && why != mergeable && why != conflict && why != "not_open" && why != "draft_status":
		m.Armed = true
	default:
		refused = r.merge(m, TheBot)
	}
	if refused == nil && in.RemoveSource != nil {
		m.removeSource = *in.RemoveSource
	}
	refused.send(a, http.StatusOK, r.shape(m))
}

// serveNotes answers requests about the notes of a merge request. A note of the line /merge
// arms it, as a quick action does.
func (r *Repository) serveNotes(s *Server, a *answer, req *http.Request, m *mergeRequest, parts []string) {
	if len(parts) == 1 {
		s.oneNote(a, req, &m.notes, m.IID, number(parts[0]))
		return
	}
	before := len(m.notes)
	s.allNotes(a, req, &m.notes, m.IID)
	if len(m.notes) > before && m.notes[before].Body == "/merge" {
		m.notes = m.notes[:before]
		m.Armed = m.State == opened
		a.json(http.StatusAccepted, map[string]any{"commands_changes": map[string]any{"merge": m.Head},
			"summary": []string{"Scheduled to merge this merge request."}})
	}
}
