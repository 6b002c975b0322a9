package gitlabtest

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Habits are what is special about one merge request.
type Habits struct {
	// Word is its detailed_merge_status, whatever else is true of it; "" is what follows from the repository.
	Word string
	// RefusesPush says that it is of a fork that lets nobody push, so that it cannot be rebased.
	RefusesPush bool
	// NeverRebased says that its rebase never ends.
	NeverRebased bool
}

// queued is what the server keeps of a merge request for queues.
type queued struct {
	habits  Habits
	events  []map[string]any // of labels
	left    int              // polls until its rebase is done
	isAsked bool             // for a rebase
	isQuiet bool             // the rebase starts no pipeline
	failure string           // of the rebase
}

// SetHabits sets the habits of a merge request.
func (r *Repository) SetHabits(iid int, h Habits) error {
	return r.act(iid, func(m *mergeRequest) *refusal {
		m.habits = h
		return nil
	})
}

// Label lets a person add and remove labels of a merge request.
func (r *Repository) Label(iid int, by Person, add, remove []string) error {
	return r.act(iid, func(m *mergeRequest) *refusal {
		was := slices.Clone(m.Labels)
		m.Labels = slices.DeleteFunc(append(m.Labels, add...), func(l string) bool { return slices.Contains(remove, l) })
		slices.Sort(m.Labels)
		m.Labels = slices.Compact(m.Labels)
		r.noteLabels(m, by, was)
		return nil
	})
}

// Title lets somebody change the title of a merge request, for instance into that of a draft.
func (r *Repository) Title(iid int, title string) error {
	return r.act(iid, func(m *mergeRequest) *refusal {
		m.Title = title
		return nil
	})
}

// Unapprove takes all approvals of a merge request away.
func (r *Repository) Unapprove(iid int) error {
	return r.act(iid, func(m *mergeRequest) *refusal {
		m.approvers = nil
		return nil
	})
}

// noteLabels notes which labels came and went.
func (r *Repository) noteLabels(m *mergeRequest, by Person, was []string) {
	for _, label := range m.Labels {
		if !slices.Contains(was, label) {
			r.noteLabel(m, by, label, "add")
		}
	}
	for _, label := range was {
		if !slices.Contains(m.Labels, label) {
			r.noteLabel(m, by, label, "remove")
		}
	}
}

func (r *Repository) noteLabel(m *mergeRequest, by Person, label, action string) {
	m.events = append(m.events, map[string]any{"id": 9000 + len(m.events), "action": action, "user": by.shape(),
		"created_at": r.tick().Format(time.RFC3339), "resource_type": "MergeRequest", "resource_id": 5000 + m.IID,
		"label": map[string]any{"id": 1, "name": label}})
}

// addRules adds what the project says about merging.
func (r *Repository) addRules(shape map[string]any) {
	shape["merge_method"] = "merge"
	if r.FastForward {
		shape["merge_method"] = "ff"
	}
	shape["squash_option"] = cmp.Or(r.Squash, "default_off")
	shape["merge_trains_enabled"] = r.Trains
	shape["only_allow_merge_if_pipeline_succeeds"] = r.Pipelines
	shape["allow_merge_on_skipped_pipeline"] = false
}

// askForRebase answers a request for a rebase, which is done at once or later.
func (r *Repository) askForRebase(m *mergeRequest, req *http.Request) *refusal {
	switch {
	case m.habits.RefusesPush:
		return refuse(http.StatusForbidden, "Source branch does not allow push")
	case m.State != opened:
		return refuse(http.StatusMethodNotAllowed, "405 Method Not Allowed")
	case m.isAsked:
		return refuse(http.StatusConflict, "Failed to enqueue the rebase operation, possibly due to a long-lived transaction.")
	}
	m.isQuiet = isQuiet(req)
	if r.RebaseAfter == 0 && !m.habits.NeverRebased {
		return r.rebase(m)
	}
	m.isAsked, m.left = true, r.RebaseAfter
	return nil
}

// isQuiet reports whether a request for a rebase asks for no pipeline.
func isQuiet(req *http.Request) bool {
	if req.URL.Query().Get("skip_ci") == "true" {
		return true
	}
	raw := make([]byte, 1024)
	n, _ := req.Body.Read(raw) // a body without the word asks for a pipeline
	return strings.Contains(strings.ReplaceAll(string(raw[:n]), " ", ""), `"skip_ci":true`)
}

// pollRebase reports whether a rebase is under way, and does it when its time has come.
func (r *Repository) pollRebase(m *mergeRequest) bool {
	if !m.isAsked || m.habits.NeverRebased {
		return m.isAsked
	}
	if m.left--; m.left >= 0 {
		return true
	}
	m.isAsked = false
	_ = r.rebase(m) // a failure is noted in the merge request
	return false
}

// addRebase adds how a rebase stands, and the head that it made.
func (r *Repository) addRebase(m *mergeRequest, shape map[string]any) {
	shape["rebase_in_progress"] = r.pollRebase(m)
	shape["sha"], shape["merge_error"] = m.Head, m.rebaseError()
}

// rebaseError returns why the last rebase failed, nil if it did not.
func (m *mergeRequest) rebaseError() any {
	if m.failure == "" {
		return nil
	}
	return m.failure
}

// takeStatus answers a status of a commit without a pipeline of the server: it makes an external pipeline.
func (r *Repository) takeStatus(s *Server, a *answer, req *http.Request, sha string) bool {
	var in struct {
		State       string `json:"state"`
		Name        string `json:"name"`
		Description string `json:"description"`
		TargetURL   string `json:"target_url"`
		PipelineID  int    `json:"pipeline_id"`
	}
	if !s.read(a, req, &in) {
		return true
	}
	if _, isKnown := r.git.commit(sha); !isKnown || in.PipelineID != 0 {
		a.refuse(http.StatusNotFound, "Commit Not Found")
		return true
	}
	r.pipelines[sha] = in.State
	made := Status{ID: s.next(), Author: Bot, Name: in.Name, State: in.State, Description: in.Description}
	s.statuses = append(s.statuses, made)
	a.json(http.StatusCreated, made.shape())
	return true
}
