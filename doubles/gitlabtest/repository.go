package gitlabtest

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Person is somebody who commits, or who did something to a merge request.
type Person struct {
	ID                    int
	Username, Name, Email string
}

// The people of a server: the user of the token, and somebody else.
var (
	TheBot = Person{Bot, "project_7_bot", "prcheck", "project_7_bot@noreply.test"}
	Jane   = Person{Human, "jane", "Jane", "jane@people.test"}
)

// A Repository is a project with a real, bare git repository, and with the merge requests of
// it. Set Server.Repository to let a server answer for it. What is said below "may" is a setting
// of the project; set it before the first request.
type Repository struct {
	// Approvals is how many people must approve a merge request.
	Approvals int
	// ResetApprovals says that a push to a branch removes approvals.
	ResetApprovals bool
	// Pipelines says that each push starts a pipeline, and that a merge request is merged only
	// after its pipeline succeeded. See [Repository.EndPipeline].
	Pipelines bool
	// FastForward says that branches are merged only if they are on top of their target.
	FastForward bool
	// Squash is the squash option of the project, "" is default_off.
	Squash string
	// Trains says that merge trains are on.
	Trains bool
	// RebaseAfter is how often somebody asks for a merge request until its rebase is done; 0 is at once.
	RebaseAfter int
	// AskGit is after how many conflicts that it computes by itself the server asks git as well, and
	// panics if git says otherwise; 0 is never. With 1, git answers all pushes, too.
	AskGit int
	// Late says that the server finds conflicts late: the first answer after a push says
	// that it is checking.
	Late bool
	// Started is called when a pipeline starts, and Ended when a merge request is merged or
	// closed. They must not call the repository.
	Started func(commit string)
	Ended   func(MergeRequest)

	mu        sync.Mutex
	git       *store
	requests  []*mergeRequest
	open      []*mergeRequest            // those that are open, and perhaps others
	from      map[string][]*mergeRequest // by source branch
	pipelines map[string]string          // state by commit
	clock     time.Time
}

// NewRepository makes a repository that ends with the test. Its branch main has one commit with
// these files, by path.
func NewRepository(t testing.TB, files map[string]string) *Repository {
	t.Helper()
	git, err := newStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &Repository{git: git, from: map[string][]*mergeRequest{}, pipelines: map[string]string{},
		clock: time.Date(2026, 1, 19, 8, 0, 0, 0, time.UTC)}
	if _, err := r.Commit(Change{By: Jane, Branch: DefaultBranch, Message: "begin", Files: files}); err != nil {
		t.Fatal(err)
	}
	return r
}

// Dir returns the folder of the bare repository, as it is at this moment. It must not be changed
// there; clients push through [Repository.ServeGit].
func (r *Repository) Dir() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.git.flush()
	return r.git.dir
}

// A Change is one commit.
type Change struct {
	By      Person
	Branch  string // which gets the commit, and is made if it is not there
	Start   string // what the commit is on top of; "" is the branch, or else main
	Message string
	Files   map[string]string // content by path
	Remove  []string          // paths
}

// Commit commits and pushes a change, and returns the commit. It fails if Start is given and the
// branch would lose commits: people do not force.
func (r *Repository) Commit(c Change) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refresh()
	on, tree, old := c.Start, "", r.git.head(c.Branch)
	if on == "" {
		if on = old; on == "" {
			on = r.git.head(DefaultBranch)
		}
	}
	var parents []string
	if at, ok := r.git.resolve(on); ok {
		parents, tree = []string{at.id}, at.tree
		if old != "" && !r.git.isAncestor(old, at.id) {
			return "", fmt.Errorf("%s moved: the push is rejected", c.Branch)
		}
	}
	for path, text := range c.Files {
		tree = r.git.put(tree, path, modeFile, r.git.write("blob", []byte(text)))
	}
	for _, path := range c.Remove {
		tree = r.git.put(tree, path, "", "")
	}
	id := r.commit(c.By, c.Message, tree, parents...)
	if !r.git.point(heads+c.Branch, id) {
		return "", fmt.Errorf("the branch %s cannot be made", c.Branch)
	}
	r.refresh()
	return id, nil
}

// commit writes a commit a second after the last one.
func (r *Repository) commit(by Person, message, tree string, parents ...string) string {
	if tree == "" {
		tree = r.git.write("tree", nil)
	}
	return r.git.writeCommit(commit{tree: tree, parents: parents, name: by.Name, email: by.Email, when: r.tick(),
		message: message})
}

// tick returns the time of the server, which goes on by a second.
func (r *Repository) tick() time.Time {
	r.clock = r.clock.Add(time.Second)
	return r.clock
}

// SetTime sets the clock of the server, which only goes forward.
func (r *Repository) SetTime(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.After(r.clock) {
		r.clock = now
	}
}

// Head returns the commit of a branch, "" if there is no such branch.
func (r *Repository) Head(branch string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.git.head(branch)
}

// Branches returns the names of all branches, sorted.
func (r *Repository) Branches() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.git.branches()
}

// File returns a file of a branch, a reference or a commit; false if it is not there.
func (r *Repository) File(rev, path string) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, _ := r.git.resolve(rev)
	at, ok := r.git.find(c.tree, path)
	o, _ := r.git.read(at.id)
	return string(o.data), ok && o.kind == "blob"
}

// LastCommit returns the newest commit of a branch or of a commit's history that changed a path, ""
// if there is none.
func (r *Repository) LastCommit(rev, path string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, _ := r.git.resolve(rev)
	return r.git.lastCommit(c.id, path)
}

// Changed returns the paths of the files that differ between two commits, sorted.
func (r *Repository) Changed(from, to string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.git.changed(from, to)
}

// Parents returns the parents of a commit.
func (r *Repository) Parents(rev string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, _ := r.git.resolve(rev)
	return c.parents
}

// Git runs git in the repository and returns what it prints, for what a test wants to know.
func (r *Repository) Git(t testing.TB, args ...string) string {
	t.Helper()
	r.mu.Lock()
	cmd := r.git.command(args...)
	r.mu.Unlock()
	raw, err := cmd.Output()
	out := string(raw)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// refresh lets the server see what was pushed since it looked last, in whatever way: merge
// requests get their new commits, and those that are armed are merged if they can be.
func (r *Repository) refresh() {
	r.git.every = r.AskGit
	for again := true; again; {
		again = false
		r.open = slices.DeleteFunc(r.open, func(m *mergeRequest) bool { return m.State != opened })
		for _, m := range r.open {
			r.look(m)
			isChecked := !r.Pipelines || r.pipelines[m.Head] == "success" // conflicts take longer to find
			if m.State == opened && m.Armed && isChecked && r.mergeable(m) == mergeable {
				again = r.merge(m, TheBot) == nil
			}
		}
	}
}

// look brings one merge request up to date with its branches.
func (r *Repository) look(m *mergeRequest) {
	head, target := r.git.head(m.Source), r.git.head(m.Target)
	switch {
	case head == "":
		r.close(m, TheBot) // GitLab closes what lost its branch
	case head != m.Head:
		m.Pushes++
		m.Head, m.Armed, m.checked = head, false, ""
		r.addVersion(m)
		if r.ResetApprovals {
			m.approvers = nil
		}
		r.startPipeline(head)
		r.git.point(fmt.Sprintf("refs/merge-requests/%d/head", m.IID), head)
	}
	// What somebody merged by hand counts as merged.
	if isNew := target != m.target; isNew {
		m.target = target
		if m.State == opened && m.start != target && m.Head != m.start && r.git.isAncestor(m.Head, target) {
			m.State, m.mergedBy, m.Merged, m.Ended = merged, Jane, target, r.tick()
			r.tellEnded(m)
		}
	}
}

// addVersion notes the head of a merge request, and where it left its target.
func (r *Repository) addVersion(m *mergeRequest) {
	base := r.git.mergeBase(r.git.head(m.Target), m.Head)
	m.versions = append(m.versions, Version{Head: m.Head, Base: base, At: r.clock})
}

func (r *Repository) startPipeline(sha string) {
	if r.Pipelines && r.pipelines[sha] == "" {
		r.pipelines[sha] = "running"
		if r.Started != nil {
			r.Started(sha)
		}
	}
}

func (r *Repository) tellEnded(m *mergeRequest) {
	if r.Ended != nil {
		r.Ended(m.MergeRequest)
	}
}

// EndPipeline ends the pipeline of a commit: "success", "failed" or "canceled".
func (r *Repository) EndPipeline(sha, state string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pipelines[sha] = state
	r.refresh()
}

// A refusal is an answer of the server that is not a success.
type refusal struct {
	status  int
	message any
}

func refuse(status int, format string, args ...any) *refusal {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

// Error implements [error].
func (f *refusal) Error() string { return fmt.Sprintf("status %d: %v", f.status, f.message) }

// send answers with a value, or with a refusal.
func (f *refusal) send(a *answer, status int, value any) {
	switch {
	case f != nil:
		a.json(f.status, map[string]any{"message": f.message})
	case status == http.StatusNoContent:
		a.status = status
	default:
		a.json(status, value)
	}
}

// A commitRequest is the body of a request for a commit.
type commitRequest struct {
	Branch        string         `json:"branch"`
	Message       string         `json:"commit_message"`
	StartBranch   string         `json:"start_branch"`
	StartSHA      string         `json:"start_sha"`
	AuthorName    string         `json:"author_name"`
	AuthorEmail   string         `json:"author_email"`
	Force         bool           `json:"force"`
	Stats         bool           `json:"stats"`
	Actions       []commitAction `json:"actions"`
	StartProject  *string        `json:"start_project"`
	AllowEmpty    bool           `json:"allow_empty"`
	isOtherBranch bool
}

// A commitAction is what a commit does to one file.
type commitAction struct {
	Action       string  `json:"action"`
	Path         string  `json:"file_path"`
	PreviousPath string  `json:"previous_path"`
	Content      *string `json:"content"`
	Encoding     string  `json:"encoding"`
	LastCommitID string  `json:"last_commit_id"`
	Executable   *bool   `json:"execute_filemode"`
}

// addCommit makes a commit of several files and lets a branch point to it.
func (r *Repository) addCommit(s *Server, a *answer, req *http.Request) {
	var in commitRequest
	if !s.read(a, req, &in) {
		return
	}
	for name, text := range map[string]string{"branch": in.Branch, "commit_message": in.Message} {
		if text == "" {
			a.json(http.StatusBadRequest, map[string]any{"error": name + " is missing"})
			return
		}
	}
	made, refused := r.commitFor(&in)
	if refused != nil {
		refused.send(a, 0, nil)
		return
	}
	c, _ := r.git.commit(made)
	a.json(http.StatusCreated, c.shape())
}

// commitFor makes the commit of a request.
func (r *Repository) commitFor(in *commitRequest) (string, *refusal) {
	on, refused := r.startOf(in)
	if refused != nil {
		return "", refused
	}
	tree := on.tree
	for _, action := range in.Actions {
		if tree, refused = r.apply(in, action, tree); refused != nil {
			return "", refused
		}
	}
	by := TheBot
	by.Name, by.Email = cmp.Or(in.AuthorName, by.Name), cmp.Or(in.AuthorEmail, by.Email)
	id := r.commit(by, in.Message, tree, on.id)
	if !r.git.point(heads+in.Branch, id) {
		return "", refuse(http.StatusBadRequest, "Branch name is invalid")
	}
	return id, nil
}

// startOf returns the commit that a request's commit is on top of.
func (r *Repository) startOf(in *commitRequest) (commit, *refusal) {
	if in.StartSHA == "" && in.StartBranch == "" {
		in.StartBranch = in.Branch
	}
	in.isOtherBranch = in.StartBranch != in.Branch
	switch {
	case in.StartProject != nil:
		return commit{}, refuse(http.StatusNotFound, "404 Project Not Found")
	case in.Branch == DefaultBranch:
		return commit{}, refuse(http.StatusForbidden, "403 Forbidden")
	case in.StartSHA != "" && in.StartBranch != "":
		return commit{}, refuse(http.StatusBadRequest, "You can't pass both start_branch and start_sha")
	case in.StartSHA != "" && !isID(in.StartSHA):
		return commit{}, refuse(http.StatusBadRequest, "Invalid start_sha '%s'", in.StartSHA)
	case in.StartBranch != "" && r.git.head(in.StartBranch) == "":
		return commit{}, refuse(http.StatusBadRequest, "You can only create or edit files when you are on a branch")
	case in.isOtherBranch && r.git.head(in.Branch) != "" && !in.Force:
		return commit{}, refuse(http.StatusBadRequest, "A branch called '%s' already exists. Switch to that branch in "+
			"order to make changes", in.Branch)
	case in.isOtherBranch && !isBranchName(in.Branch):
		return commit{}, refuse(http.StatusBadRequest, "Something went wrong when we tried to create '%s' for you: Branch "+
			"name is invalid", in.Branch)
	}
	c, ok := r.git.resolve(cmp.Or(in.StartSHA, in.StartBranch))
	if !ok {
		return commit{}, refuse(http.StatusBadRequest, "Cannot find start_sha '%s'", in.StartSHA)
	}
	return c, nil
}

// apply returns the tree after one action.
func (r *Repository) apply(in *commitRequest, do commitAction, tree string) (string, *refusal) {
	from := cmp.Or(do.PreviousPath, do.Path)
	old, has := r.git.find(tree, from)
	_, isThere := r.git.find(tree, do.Path)
	last := r.git.lastCommit(r.git.head(cmp.Or(in.StartBranch, DefaultBranch)), from)
	switch {
	case !isPath(do.Path) || !isPath(from):
		return "", refuse(http.StatusBadRequest, "invalid path: '%s'", do.Path)
	case !slices.Contains([]string{"create", "update", "delete", "move", "chmod"}, do.Action):
		return "", &refusal{http.StatusBadRequest, "actions[0][action] does not have a valid value"}
	case do.Action == "create" && isThere, do.Action == "move" && isThere:
		return "", refuse(http.StatusBadRequest, "A file with this name already exists")
	case do.Action != "create" && !has:
		return "", refuse(http.StatusBadRequest, "A file with this name doesn't exist")
	case do.Action != "create" && do.LastCommitID != "" && last != "" && do.LastCommitID != last:
		return "", refuse(http.StatusBadRequest, "The file has changed since you started editing it: %s", from)
	case (do.Action == "create" || do.Action == "update") && do.Content == nil:
		return "", refuse(http.StatusBadRequest, "content is missing")
	}
	id, mode := old.id, cmp.Or(old.mode, modeFile)
	if do.Content != nil {
		data := []byte(*do.Content)
		if do.Encoding == "base64" {
			raw, err := base64.StdEncoding.DecodeString(*do.Content)
			if err != nil {
				return "", refuse(http.StatusBadRequest, "content is not base64")
			}
			data = raw
		}
		id = r.git.write("blob", data)
	}
	if do.Executable != nil {
		mode = map[bool]string{true: "100755", false: modeFile}[*do.Executable]
	}
	if do.Action == "delete" || do.Action == "move" {
		tree = r.git.put(tree, from, "", "")
	}
	if do.Action != "delete" {
		tree = r.git.put(tree, do.Path, mode, id)
	}
	return tree, nil
}

// isPath reports whether git takes a path.
func isPath(path string) bool {
	return path != "" && !slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool {
		return part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git")
	})
}
