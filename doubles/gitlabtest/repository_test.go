package gitlabtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

const token = "glpat-of-the-test"

// A world is a server with a repository, and what a test does to it.
type world struct {
	*Repository
	t      *testing.T
	server *Server
	url    string
}

func newWorld(t *testing.T, set func(*Repository)) world {
	t.Helper()
	r := NewRepository(t, map[string]string{"data/a.yml": "a: 1\nb: 1\nc: 1\n", "data/deep/b.yml": "x: 1\n"})
	if set != nil {
		set(r)
	}
	s := &Server{Token: token, Repository: r}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return world{r, t, s, h.URL}
}

// ask sends a request of the bot and returns the status and the answer.
func (w world) ask(method, path, body string) (int, map[string]any) {
	w.t.Helper()
	code, raw := w.send(method, path, body)
	out := map[string]any{}
	_ = json.Unmarshal(raw, &out) // lists and empty answers have no fields
	return code, out
}

func (w world) send(method, path, body string) (code int, answer []byte) {
	rec := httptest.NewRecorder()
	req := httptest.NewRequest(method, "/api/v4/projects/"+url.PathEscape(ProjectPath)+path, strings.NewReader(body))
	req.Header.Set("PRIVATE-TOKEN", token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	w.server.ServeHTTP(rec, req)
	return rec.Code, rec.Body.Bytes()
}

// person commits a file on main or another branch.
func (w world) person(branch, path, text string) string {
	w.t.Helper()
	id, err := w.Commit(Change{By: Jane, Branch: branch, Message: "by hand", Files: map[string]string{path: text}})
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

// promote makes the branch p with one forced commit on main, and opens a merge request.
func (w world) promote(text string) {
	w.t.Helper()
	w.push(text)
	if code, got := w.ask("POST", "/merge_requests",
		`{"title":"promote","source_branch":"p","target_branch":"main"}`); code != http.StatusCreated {
		w.t.Fatal(code, got)
	}
}

func (w world) push(text string) {
	w.t.Helper()
	raw, _ := json.Marshal(text)
	body := `{"branch":"p","start_branch":"main","force":true,"commit_message":"promote","actions":[{"action":"update","file_path":"data/a.yml","content":` + string(raw) + `}]}`
	if code, got := w.ask("POST", "/repository/commits", body); code != http.StatusCreated {
		w.t.Fatal(code, got)
	}
}

func TestCommitIsRefused(t *testing.T) {
	w := newWorld(t, nil)
	first := w.Head(DefaultBranch)
	w.person("other", "data/z.yml", "z")
	w.person(DefaultBranch, "data/a.yml", "a: 2\nb: 1\nc: 1\n")
	update := `"actions":[{"action":"update","file_path":"data/a.yml","content":"x"`
	for name, c := range map[string]struct{ body, want string }{
		"no message": {`{"branch":"p"}`, "commit_message is missing"},
		"two starts": {`{"branch":"p","commit_message":"m","start_branch":"main","start_sha":"` + first + `"}`,
			"both"},
		"branch is there": {`{"branch":"other","commit_message":"m","start_branch":"main"}`, "already exists"},
		"no branch":       {`{"branch":"p","commit_message":"m"}`, "when you are on a branch"},
		"no such start": {`{"branch":"p","commit_message":"m","start_sha":"` + strings.Repeat("0", 40) + `"}`,
			"Cannot find"},
		"short start": {`{"branch":"p","commit_message":"m","start_sha":"abc"}`, "Invalid start_sha"},
		"main":        {`{"branch":"main","commit_message":"m"}`, "403"},
		"file moved": {
			`{"branch":"p","commit_message":"m","start_branch":"main",` + update + `,"last_commit_id":"` + first + `"}]}`,
			"has changed"},
		"file moved, by a sha": {
			`{"branch":"p","commit_message":"m","start_sha":"` + first + `",` + update + `,"last_commit_id":"` + first + `"}]}`,
			"has changed"},
		"create what is there": {`{"branch":"p","commit_message":"m","start_branch":"main","actions":[{"action":"create","file_path":"data/a.yml","content":"x"}]}`, "already exists"},
		"update what is not":   {`{"branch":"p","commit_message":"m","start_branch":"main","actions":[{"action":"update","file_path":"no.yml","content":"x"}]}`, "doesn't exist"},
		"out of the folder":    {`{"branch":"p","commit_message":"m","start_branch":"main","actions":[{"action":"create","file_path":"../x","content":"x"}]}`, "invalid path"},
	} {
		code, got := w.ask("POST", "/repository/commits", c.body)
		if text := fmt.Sprint(got); code < 400 || !strings.Contains(text, c.want) {
			t.Errorf("%s: got %d %s, want %q", name, code, text, c.want)
		}
	}
	if got := w.Branches(); fmt.Sprint(got) != "[main other]" {
		t.Errorf("a refused commit made a branch: %v", got)
	}
}

func TestCommitForces(t *testing.T) {
	w := newWorld(t, nil)
	w.push("a: 1\nb: 2\nc: 1\n")
	old := w.Head("p")
	w.person(DefaultBranch, "data/a.yml", "a: 2\nb: 1\nc: 1\n")
	w.push("a: 2\nb: 2\nc: 1\n")
	if got := w.Parents("p"); len(got) != 1 || got[0] != w.Head(DefaultBranch) || w.Head("p") == old {
		t.Errorf("the forced commit is on %v, want main %s", got, w.Head(DefaultBranch))
	}
	if got := w.Git(t, "diff", "--stat=80", "main", "p"); !strings.Contains(got,
		"1 file changed, 1 insertion(+), 1 deletion(-)") {
		t.Errorf("git sees %s", got)
	}
	code, file := w.ask("GET", "/repository/files/"+url.PathEscape("data/a.yml")+"?ref=main", "")
	if code != 200 || file["last_commit_id"] != w.Head(DefaultBranch) ||
		file["blob_id"] != strings.TrimSpace(w.Git(t, "rev-parse", "main:data/a.yml")) {
		t.Errorf("the file is %d %v", code, file)
	}
	if got := w.Git(t, "fsck", "--strict", "--full"); strings.Contains(got, "error") {
		t.Error(got)
	}
}

// The last commit of a path is the one that git log names, on a history with merges.
func TestLastCommit(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 12 {
		branch := fmt.Sprintf("b%d", i)
		w.person(branch, fmt.Sprintf("data/%d.yml", i%3), fmt.Sprint(i))
		w.person(DefaultBranch, "data/a.yml", fmt.Sprintf("a: %d\nb: 1\nc: 1\n", i))
		iid := w.Open(t, MergeRequest{Title: branch, Source: branch, Target: DefaultBranch, By: Jane})
		if err := w.Merge(iid, Jane); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"data/a.yml", "data/0.yml", "data/2.yml", "data/deep/b.yml", "data/none.yml"} {
		want := strings.TrimSpace(w.Git(t, "log", "-1", "--format=%H", DefaultBranch, "--", path))
		if got := w.git.lastCommit(w.Head(DefaultBranch), path); got != want {
			t.Errorf("%s: got %s, git says %s", path, got, want)
		}
	}
}

func TestMergeRequestConflicts(t *testing.T) {
	w := newWorld(t, nil)
	w.promote("a: 1\nb: 2\nc: 1\n")
	w.person(DefaultBranch, "data/deep/b.yml", "x: 2\n")
	if _, got := w.ask("GET", "/merge_requests/1", ""); got["has_conflicts"] != false ||
		got["detailed_merge_status"] != mergeable {
		t.Errorf("another file conflicts: %v", got)
	}
	w.person(DefaultBranch, "data/a.yml", "a: 1\nb: 3\nc: 1\n")
	_, got := w.ask("GET", "/merge_requests/1", "")
	refs, _ := got["diff_refs"].(map[string]any)
	if got["has_conflicts"] != true || refs["head_sha"] != w.Head("p") || refs["start_sha"] != w.Head(DefaultBranch) {
		t.Errorf("the same line does not conflict: %v", got)
	}
	if code, _ := w.ask("PUT", "/merge_requests/1/merge", ""); code != http.StatusUnprocessableEntity {
		t.Errorf("merging it answers %d", code)
	}
	w.push("a: 1\nb: 4\nc: 1\n")
	if code, got := w.ask("PUT", "/merge_requests/1/merge",
		`{"sha":"`+w.Head("p")+`","should_remove_source_branch":false}`); code != 200 || got["state"] != merged {
		t.Errorf("merging answers %d %v", code, got)
	}
	if text, _ := w.File(DefaultBranch, "data/deep/b.yml"); text != "x: 2\n" {
		t.Errorf("the merge lost a line: %q", text)
	}
}

func TestArming(t *testing.T) {
	w := newWorld(t, func(r *Repository) { r.Pipelines, r.ResetApprovals, r.Approvals = true, true, 1 })
	w.promote("a: 1\nb: 2\nc: 1\n")
	arm := func(want int) {
		t.Helper()
		if code, got := w.ask("PUT", "/merge_requests/1/merge", `{"merge_when_pipeline_succeeds":true}`); code != want {
			t.Errorf("arming answers %d %v, want %d", code, got["message"], want)
		}
	}
	arm(http.StatusOK)
	arm(http.StatusConflict)
	if err := w.Approve(1, Jane); err != nil {
		t.Fatal(err)
	}
	w.push("a: 1\nb: 3\nc: 1\n")
	w.EndPipeline(w.Head("p"), "success")
	_, got := w.ask("GET", "/merge_requests/1", "")
	if got["merge_when_pipeline_succeeds"] != false || got["state"] != opened ||
		got["detailed_merge_status"] != "not_approved" {
		t.Errorf("a push left it armed, or approved: %v", got)
	}
	if code, _ := w.ask("POST", "/merge_requests/1/notes", `{"body":"/merge"}`); code != http.StatusAccepted ||
		len(w.NotesOf(1)) != 0 {
		t.Errorf("the quick action answers %d", code)
	}
	if err := w.Approve(1, Jane); err != nil {
		t.Fatal(err)
	}
	if m := w.MergeRequests()[0]; m.State != merged || m.Merged != w.Head(DefaultBranch) || m.Pushes != 1 {
		t.Errorf("an armed one is not merged: %+v", m)
	}
}

func TestMergeRequestStates(t *testing.T) {
	w := newWorld(t, nil)
	w.promote("a: 1\nb: 2\nc: 1\n")
	if code, _ := w.ask("POST", "/merge_requests",
		`{"title":"again","source_branch":"p","target_branch":"main"}`); code != http.StatusConflict {
		t.Errorf("a second one of the branch answers %d", code)
	}
	w.ask("PUT", "/merge_requests/1", `{"add_labels":"bot,auto","description":"{}"}`)
	for query, want := range map[string]int{
		"state=opened&source_branch=p": 1, "state=closed": 0, "search=promo&in=title": 1, "labels=bot,auto": 1,
		"labels=bot,x": 0, "source_branch=q": 0,
	} {
		_, raw := w.send("GET", "/merge_requests?per_page=100&"+query, "")
		var list []map[string]any
		if err := json.Unmarshal(raw, &list); err != nil || len(list) != want {
			t.Errorf("%s lists %s, want %d", query, raw, want)
		}
	}
	if code, _ := w.ask("DELETE", "/repository/branches/p", ""); code != http.StatusNoContent {
		t.Errorf("removing the branch answers %d", code)
	}
	if m := w.MergeRequests()[0]; m.State != closed {
		t.Errorf("without its branch it is %s", m.State)
	}
	if code, _ := w.ask("DELETE", "/repository/branches/main", ""); code != http.StatusMethodNotAllowed {
		t.Errorf("removing main answers %d", code)
	}
	if got := w.server.Wrong(); len(got) > 0 {
		t.Error(got)
	}
}

// Git clients fetch and push, and a push is seen as such.
func TestGitClients(t *testing.T) {
	w := newWorld(t, nil)
	w.promote("a: 1\nb: 2\nc: 1\n")
	w.ask("PUT", "/merge_requests/1/merge", `{"merge_when_pipeline_succeeds":true,"sha":"`+strings.Repeat("0", 40)+`"}`)
	dir := t.TempDir()
	remote := strings.Replace(w.url, "http://", "http://git:"+token+"@", 1) + "/" + ProjectPath + ".git"
	w.Git(t, "clone", "--quiet", "--branch=p", remote, dir)
	w.Git(t, "-C", dir, "-c", "user.name=Jane", "-c", "user.email=jane@people.test", "commit", "--quiet", "--allow-empty",
		"-m", "mine")
	w.Git(t, "-C", dir, "push", "--quiet", "origin", "p")
	want := strings.TrimSpace(w.Git(t, "-C", dir, "rev-parse", "HEAD"))
	if m := w.MergeRequests()[0]; m.Head != want || m.Pushes != 1 {
		t.Errorf("after a push of %s it is %+v", want, m)
	}
	if got := w.Git(t, "ls-remote", remote, "refs/merge-requests/1/head"); !strings.HasPrefix(got, want) {
		t.Errorf("the merge request's own reference is %q, want %s", got, want)
	}
	if _, err := w.git.git("ls-remote", w.url+"/"+ProjectPath+".git"); err == nil {
		t.Error("somebody without a token may read")
	}
	if _, raw := w.send("GET", "/merge_requests/1/commits?per_page=20",
		""); strings.Count(string(raw), `"author_name"`) != 2 || !strings.Contains(string(raw), Jane.Email) {
		t.Errorf("its commits are %s", raw)
	}
}

func TestRebase(t *testing.T) {
	w := newWorld(t, func(r *Repository) { r.FastForward = true })
	w.promote("a: 1\nb: 1\nc: 2\n")
	w.person(DefaultBranch, "data/deep/b.yml", "x: 2\n")
	if code, _ := w.ask("PUT", "/merge_requests/1/merge", ""); code != http.StatusMethodNotAllowed {
		t.Errorf("merging what is behind answers %d", code)
	}
	if code, _ := w.ask("PUT", "/merge_requests/1/rebase", ""); code != http.StatusAccepted {
		t.Errorf("a rebase answers %d", code)
	}
	if code, _ := w.ask("PUT", "/merge_requests/1/merge", ""); code != http.StatusOK {
		t.Errorf("merging answers %d", code)
	}
	a, _ := w.File(DefaultBranch, "data/a.yml")
	if b, _ := w.File(DefaultBranch, "data/deep/b.yml"); a != "a: 1\nb: 1\nc: 2\n" || b != "x: 2\n" {
		t.Errorf("main has %q and %q", a, b)
	}
}

// Late answers come once after each push: a client must not take them for the truth.
func TestLate(t *testing.T) {
	w := newWorld(t, func(r *Repository) { r.Late = true })
	w.promote("a: 1\nb: 2\nc: 1\n")
	w.person(DefaultBranch, "data/a.yml", "a: 1\nb: 3\nc: 1\n")
	for i, want := range []bool{false, true, true} {
		if _, got := w.ask("GET", "/merge_requests/1", ""); got["has_conflicts"] != want {
			t.Errorf("answer %d: conflicts %v, want %v", i, got["has_conflicts"], want)
		}
	}
}
