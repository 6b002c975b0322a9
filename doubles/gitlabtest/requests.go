package gitlabtest

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// The states of a merge request.
const (
	opened = "opened"
	closed = "closed"
	merged = "merged"
)

// What the server says of whether a merge request can be merged.
const (
	mergeable = "mergeable"
	conflict  = "conflict"
	checking  = "checking"
)

// A MergeRequest is what people see of a merge request.
type MergeRequest struct {
	IID                int
	Title, Description string
	Source, Target     string // branches
	Head               string // newest commit of the source branch
	State              string // opened, closed or merged
	Labels             []string
	By                 Person
	Armed              bool // it is merged as soon as it can be
	Merged             string
	Pushes             int // how often the head changed after it was opened
	Opened             time.Time
	Ended              time.Time // closed or merged
	ClosedBy           Person
}

// A mergeRequest is what the server keeps of a merge request.
type mergeRequest struct {
	MergeRequest
	notes []Note
	queued
	approvers    []Person
	versions     []Version
	mergedBy     Person
	start        string // commit of the target when it was opened
	target       string // commit of the target when it was looked at last
	checked      string // pair of commits for which the server said that it is checking
	removeSource bool
	updated      time.Time
}

// MergeRequests returns all merge requests, the oldest first.
func (r *Repository) MergeRequests() []MergeRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refresh()
	out := make([]MergeRequest, len(r.requests))
	for i, m := range r.requests {
		out[i] = m.MergeRequest
		out[i].Labels = slices.Clone(m.Labels)
	}
	return out
}

// MergeRequestsOf returns the merge requests that were made from a branch, the newest first.
func (r *Repository) MergeRequestsOf(branch string) []MergeRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refresh()
	var out []MergeRequest
	for _, m := range slices.Backward(r.from[branch]) {
		out = append(out, m.MergeRequest)
	}
	return out
}

// OpenMergeRequests returns those that are open, the oldest first.
func (r *Repository) OpenMergeRequests() []MergeRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refresh()
	var out []MergeRequest
	for _, m := range r.open {
		if m.State == opened {
			out = append(out, m.MergeRequest)
		}
	}
	return out
}

// Open opens a merge request for a person, and returns its number.
func (r *Repository) Open(t testing.TB, m MergeRequest) int {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	made, refused := r.add(m)
	if refused != nil {
		t.Fatal(refused)
	}
	return made.IID
}

// Merge lets a person merge a merge request. The error says why the server refuses.
func (r *Repository) Merge(iid int, by Person) error {
	return r.act(iid, func(m *mergeRequest) *refusal { return r.merge(m, by) })
}

// Arm lets a merge request be merged as soon as it can be.
func (r *Repository) Arm(iid int) error {
	return r.act(iid, func(m *mergeRequest) *refusal {
		m.Armed = m.State == opened
		return nil
	})
}

// PipelineOf returns the state of the pipeline of a commit, "" if there is none.
func (r *Repository) PipelineOf(sha string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pipelines[sha]
}

// Close lets a person close a merge request.
func (r *Repository) Close(iid int, by Person) error {
	return r.act(iid, func(m *mergeRequest) *refusal {
		r.close(m, by)
		return nil
	})
}

// Approve lets a person approve a merge request.
func (r *Repository) Approve(iid int, by Person) error {
	return r.act(iid, func(m *mergeRequest) *refusal {
		r.approve(m, by)
		return nil
	})
}

// Conflicts reports whether git cannot merge a merge request.
func (r *Repository) Conflicts(iid int) bool {
	has := false
	_ = r.act(iid, func(m *mergeRequest) *refusal { // no merge request has no conflict
		has = r.conflicts(m)
		return nil
	})
	return has
}

// Conflicting returns the open merge requests that git cannot merge, the oldest first.
func (r *Repository) Conflicting() []MergeRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refresh()
	var out []MergeRequest
	for _, m := range r.open {
		if m.State == opened && r.conflicts(m) {
			out = append(out, m.MergeRequest)
		}
	}
	return out
}

// AddNote adds a note to a merge request, with the number that it has.
func (r *Repository) AddNote(iid int, n Note) error {
	return r.act(iid, func(m *mergeRequest) *refusal {
		m.notes = append(m.notes, n)
		return nil
	})
}

// NotesOf returns the notes of a merge request.
func (r *Repository) NotesOf(iid int) (notes []Note) {
	_ = r.act(iid, func(m *mergeRequest) *refusal { // no merge request has no notes
		notes = slices.Clone(m.notes)
		return nil
	})
	return notes
}

// act does something to a merge request.
func (r *Repository) act(iid int, do func(*mergeRequest) *refusal) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refresh()
	m := r.find(iid)
	if m == nil {
		return refuse(404, "404 Not found")
	}
	if refused := do(m); refused != nil {
		return refused
	}
	r.refresh()
	return nil
}

// find returns a merge request, nil if there is none.
func (r *Repository) find(iid int) *mergeRequest {
	if iid < 1 || iid > len(r.requests) {
		return nil
	}
	return r.requests[iid-1]
}

// add adds a merge request.
func (r *Repository) add(m MergeRequest) (*mergeRequest, *refusal) {
	head, target := r.git.head(m.Source), r.git.head(m.Target)
	switch {
	case m.Title == "":
		return nil, &refusal{400, map[string]any{"title": []string{"can't be blank"}}}
	case m.Source == m.Target:
		return nil, &refusal{422, []string{"You can't use same project/branch for source and target"}}
	case head == "" || target == "":
		return nil, &refusal{400, map[string]any{"source_branch": []string{"does not exist"}}}
	}
	if old := r.openOf(m.Source, m.Target); old != nil {
		return nil, &refusal{409,
			[]string{"Another open merge request already exists for this source branch: !" + itoa(old.IID)}}
	}
	m.IID, m.Head, m.State, m.Opened = len(r.requests)+1, head, opened, r.tick()
	made := &mergeRequest{MergeRequest: m, start: target, target: target, updated: m.Opened}
	r.requests, r.open, r.from[m.Source] = append(r.requests, made), append(r.open, made), append(r.from[m.Source], made)
	r.noteLabels(made, m.By, nil)
	r.startPipeline(head)
	r.addVersion(made)
	r.git.point("refs/merge-requests/"+itoa(m.IID)+"/head", head)
	return made, nil
}

// openOf returns the open merge request of two branches, nil if there is none.
func (r *Repository) openOf(source, target string) *mergeRequest {
	for _, m := range r.open {
		if m.State == opened && m.Source == source && m.Target == target {
			return m
		}
	}
	return nil
}

func (r *Repository) close(m *mergeRequest, by Person) {
	if m.State == opened {
		m.State, m.ClosedBy, m.Armed, m.Ended = closed, by, false, r.tick()
		r.tellEnded(m)
	}
}

func (r *Repository) approve(m *mergeRequest, by Person) {
	if !slices.Contains(m.approvers, by) {
		m.approvers = append(m.approvers, by)
	}
}

// conflicts asks git whether two branches cannot be merged.
func (r *Repository) conflicts(m *mergeRequest) bool {
	target := r.git.head(m.Target)
	if m.Head == "" || target == "" || r.git.mergeBase(target, m.Head) == target {
		return false
	}
	return !r.git.canMerge(target, m.Head)
}

// mergeable says whether a merge request can be merged, in the word of the API.
func (r *Repository) mergeable(m *mergeRequest) string {
	pipeline := r.pipelines[m.Head]
	switch {
	case m.State == opened && m.habits.Word != "":
		return m.habits.Word
	case m.State != opened:
		return "not_open"
	case strings.HasPrefix(m.Title, "Draft:"):
		return "draft_status"
	case r.conflicts(m):
		return conflict
	case r.FastForward && !r.git.isAncestor(r.git.head(m.Target), m.Head):
		return "need_rebase"
	case len(m.approvers) < r.Approvals:
		return "not_approved"
	case r.Pipelines && pipeline == "running":
		return "ci_still_running"
	case r.Pipelines && pipeline != "success":
		return "ci_must_pass"
	}
	return mergeable
}

// merge merges a merge request, or says why not.
func (r *Repository) merge(m *mergeRequest, by Person) *refusal {
	if why := r.mergeable(m); why == conflict {
		return refuse(422, "Branch cannot be merged")
	} else if why != mergeable {
		return refuse(405, "405 Method Not Allowed")
	}
	target, id := r.git.head(m.Target), m.Head
	if !r.FastForward {
		tree, _ := r.git.merge(target, m.Head) // mergeable says that it can be
		id = r.commit(by, "Merge branch '"+m.Source+"' into '"+m.Target+"'\n\n"+m.Title, tree, target, m.Head)
	}
	r.git.point(heads+m.Target, id)
	m.State, m.Merged, m.mergedBy, m.Armed, m.Ended = merged, id, by, false, r.tick()
	if m.removeSource {
		r.git.point(heads+m.Source, "")
	}
	r.tellEnded(m)
	return nil
}
