package gitlabtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// The objects that a server starts with.
const (
	Project  = 7
	IID      = 12 // of the merge request
	Pipeline = 100
	Bot      = 42 // the user of the token
	Human    = 5  // another user
	// ProjectPath is the name of the project in addresses.
	ProjectPath = "group/project"
	SHA         = "18f3e63d05582537db6d183d9d557be09e1f90c8"
)

// A Note is a note of the merge request.
type Note struct {
	ID, Author int
	System     bool
	Body       string
	By         string    // name of the author; "" is that of the id
	At         time.Time // when it was written; zero is a fixed time
	EditedAt   time.Time // zero if it was not edited
	EditedBy   string    // "" if nobody changed its text

	textAt time.Time // when its text was changed
}

// A Status is a commit status.
type Status struct {
	ID, Pipeline, Author                int
	Name, State, Description, TargetURL string
	superseded                          bool
}

// A Job is a job of a pipeline.
type Job struct {
	ID, Pipeline int
	Child        int // the pipeline that a bridge started; negative if it started none; 0 for other jobs
	Name, Status string
	Archive      []byte // the artifacts
}

// A Fault says what goes wrong with a request. With the zero value nothing does.
type Fault struct {
	Status  int           // answer with this status, Header and Body
	Header  http.Header   // more headers of the answer
	Body    string        // of the answer, with Status
	Drop    bool          // close the connection without an answer
	Cut     bool          // send half of the answer
	Undone  bool          // do not carry the request out
	Delayed time.Duration // wait before the request is carried out
}

// A Server is a GitLab server. Its fields must be set before it is used.
type Server struct {
	Token    string // the token of the bot, which may do everything
	JobToken string // the token of a job, which may only read artifacts
	// Pipelines holds the commit of each pipeline. Nil is the pipeline Pipeline with the
	// commit SHA.
	Pipelines map[int]string
	// Fault returns the fault of a request. Requests are numbered from 1.
	Fault   func(n int, r *http.Request) Fault
	Header  http.Header // more headers of every answer
	NoPages bool        // leaves out the headers about pages
	// NoEdits lets GraphQL know nothing of who edited notes, as in an old GitLab.
	NoEdits bool
	// ArtifactsAt is the URL to which requests for artifacts are redirected; "" redirects
	// none.
	ArtifactsAt string
	Rights      Rights
	// Groups has the members of groups by their paths.
	Groups map[string][]string
	// Repository has the branches and merge requests of the project. Without one there is only
	// the merge request IID, and no branch.
	Repository *Repository

	mu       sync.Mutex
	labels   []string // of the merge request
	change   Proposal // in the merge request
	notes    []Note
	statuses []Status
	jobs     []Job
	last     int // the last id
	requests []string
	wrong    []string
}

// ServeHTTP answers a request of the API.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
	n := len(s.requests)
	s.mu.Unlock()
	var fault Fault
	if s.Fault != nil {
		fault = s.Fault(n, r)
	}
	if fault.Delayed > 0 {
		select {
		case <-time.After(fault.Delayed):
		case <-r.Context().Done():
		}
	}
	if s.isGit(r) && fault.Status == 0 && !fault.Drop {
		s.serveGit(w, r)
		return
	}
	a := &answer{status: http.StatusGatewayTimeout, header: http.Header{}}
	if !fault.Undone {
		s.mu.Lock()
		s.answer(a, r)
		s.mu.Unlock()
	}
	fault.send(w, a)
}

// send sends an answer as the fault says.
func (f Fault) send(w http.ResponseWriter, a *answer) {
	if f.Drop {
		panic(http.ErrAbortHandler)
	}
	if f.Status != 0 {
		a = &answer{status: f.Status, header: http.Header{}, body: []byte(f.Body)}
	}
	for name, values := range f.Header {
		a.header[name] = values
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	w.WriteHeader(a.status)
	if f.Cut {
		_, _ = w.Write(a.body[:len(a.body)/2])
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(a.body) // nobody may be listening any more
}

// An answer is an HTTP response.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a *answer) json(status int, value any) {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	a.status, a.body = status, raw
	a.header.Set("Content-Type", "application/json")
}

func (a *answer) refuse(status int, text string) {
	a.json(status, map[string]any{"message": fmt.Sprintf("%d %s", status, text)})
}

// report notes something that a client must not do.
func (s *Server) report(format string, args ...any) {
	s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
}

// answer carries a request out and fills in the answer.
func (s *Server) answer(a *answer, r *http.Request) {
	for name, values := range s.Header {
		a.header[name] = values
	}
	if strings.Contains(r.URL.String(), s.Token) {
		s.report("the token is in %s", r.URL)
	}
	bot := r.Header.Get("PRIVATE-TOKEN") == s.Token && s.Token != ""
	job := r.Header.Get("JOB-TOKEN") == s.JobToken && s.JobToken != ""
	if r.URL.EscapedPath() == graphqlPath && bot && r.Method == http.MethodPost {
		s.edits(a, r)
		return
	}
	path, known := strings.CutPrefix(r.URL.EscapedPath(), "/api/v4")
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for i, part := range parts { // a name with a slash is one part
		if text, err := url.PathUnescape(part); err == nil {
			parts[i] = text
		}
	}
	switch {
	case !known:
		s.report("%s %s is not an address of the API", r.Method, r.URL)
		a.refuse(http.StatusNotFound, "Not Found")
	case !bot && !job:
		a.refuse(http.StatusUnauthorized, "Unauthorized")
	case !bot && parts[len(parts)-1] != "artifacts":
		a.refuse(http.StatusForbidden, "Forbidden")
	case path == "/user" && r.Method == http.MethodGet:
		a.json(http.StatusOK, map[string]any{"id": Bot, "username": "project_7_bot", "name": "prcheck", "state": "active"})
	case path == "/personal_access_tokens/self" && r.Method == http.MethodGet:
		s.self(a)
	case len(parts) == 3 && parts[0] == "groups" && parts[2] == "members" && r.Method == http.MethodGet:
		s.groupMembers(a, r, parts[1])
	case len(parts) == 2 && parts[0] == "projects" && (parts[1] == strconv.Itoa(Project) || parts[1] == ProjectPath) &&
		r.Method == http.MethodGet:
		s.aboutProject(a)
	default:
		s.project(a, r, parts)
	}
}

// project answers requests below /projects/7.
func (s *Server) project(a *answer, r *http.Request, parts []string) {
	if len(parts) < 3 || parts[0] != "projects" || parts[1] != strconv.Itoa(Project) && parts[1] != ProjectPath {
		a.refuse(http.StatusNotFound, "Project Not Found")
		return
	}
	if s.Repository != nil && s.Repository.serve(s, a, r, parts[2:]) {
		return
	}
	if s.serveProposal(a, r, strings.Join(parts[2:], "/")) {
		return
	}
	notes := fmt.Sprintf("merge_requests/%d/notes", IID)
	switch rest := strings.Join(parts[2:], "/"); {
	case rest == fmt.Sprintf("merge_requests/%d", IID) && r.Method == http.MethodGet:
		s.mergeRequest(a)
	case rest == notes:
		s.allNotes(a, r, &s.notes, IID)
	case strings.HasPrefix(rest, notes+"/"):
		s.oneNote(a, r, &s.notes, IID, number(parts[len(parts)-1]))
	case parts[2] == "repository" && len(parts) == 6 && parts[3] == "commits" && parts[5] == "statuses" &&
		s.knows(parts[4]) && r.Method == http.MethodGet:
		s.listStatuses(a, r, parts[4])
	case parts[2] == "statuses" && r.Method == http.MethodPost:
		s.setStatus(a, r, parts[len(parts)-1])
	case parts[2] == "pipelines" && len(parts) == 5 && r.Method == http.MethodGet:
		s.listJobs(a, r, number(parts[3]), parts[4])
	case parts[2] == "jobs" && len(parts) == 5 && parts[4] == "artifacts" && r.Method == http.MethodGet:
		s.artifacts(a, number(parts[3]))
	default:
		a.refuse(http.StatusNotFound, "Not Found")
	}
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// next returns a new id.
func (s *Server) next() int {
	s.last++
	return s.last
}

// paged answers with one page of a list. It reports parameters other than those of pages
// and extra.
func paged[T any](s *Server, a *answer, r *http.Request, all []T, shape func(T) map[string]any, extra ...string) {
	q := r.URL.Query()
	for name := range q {
		if !slices.Contains(append(extra, "page", "per_page"), name) {
			s.report("%s has the parameter %q", r.URL.Path, name)
		}
	}
	page, size := max(number(q.Get("page")), 1), number(q.Get("per_page"))
	if size < 1 || size > 100 {
		s.report("%s has pages of %q", r.URL.Path, q.Get("per_page"))
		size = 20
	}
	from := min((page-1)*size, len(all))
	to := min(from+size, len(all))
	if !s.NoPages {
		a.header.Set("X-Page", strconv.Itoa(page))
		a.header.Set("X-Per-Page", strconv.Itoa(size))
		a.header["X-Next-Page"] = []string{""}
		if to < len(all) {
			a.header.Set("X-Next-Page", strconv.Itoa(page+1))
		}
	}
	out := []map[string]any{}
	for _, x := range all[from:to] {
		out = append(out, shape(x))
	}
	a.json(http.StatusOK, out)
}

// maxField is the largest text of a status, in code points.
const maxField = 255

func (s *Server) listStatuses(a *answer, r *http.Request, sha string) {
	paged(s, a, r, slices.DeleteFunc(s.latest(), func(st Status) bool {
		of, isKnown := s.commits()[st.Pipeline]
		return isKnown && of != sha
	}), Status.shape)
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
	if in.PipelineID == 0 {
		in.PipelineID = s.pipelineOf(sha)
	}
	switch {
	case in.PipelineID == 0 || s.commits()[in.PipelineID] != sha:
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

// knows reports whether there is a pipeline of a commit, or a repository that has it.
func (s *Server) knows(sha string) bool {
	if s.Repository != nil {
		if _, isKnown := s.Repository.git.commit(sha); isKnown {
			return true
		}
	}
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
