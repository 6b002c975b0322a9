package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/gitlabtest"
	"github.com/app-sre/prcheck/queue"
)

const queueToken = "glpat-not-to-be-shown" //nolint:gosec // of a test

// A mergeQueue is a GitLab with merge requests, a clone of its repository, and a state.
type mergeQueue struct {
	t          *testing.T
	repository *gitlabtest.Repository
	server     *gitlabtest.Server
	env        []string
	clone      string
	state      string
}

func newMergeQueue(t *testing.T, more ...map[string]string) *mergeQueue {
	t.Helper()
	person := func(name string) string {
		return "$schema: /person-1.yml\nname: " + name + "\nemail: " + name + "@x\n"
	}
	files := map[string]string{
		"prcheck.yaml": "version: 1\nexec: {argv: [sh, tools/check.sh, \"{cmd}\"]}\nprograms: [tools/check.sh]\n" +
			"effects:\n  rules: [{match: '^would delete (?P<subject>.+)$', kind: delete}]\n" +
			"  require: {delete: deletions-reviewed}\n",
		"tools/check.sh": "grep -rhoE 'bad[a-z]*' data && exit 1\n" +
			"grep -q '^email: same' data/a.yml && grep -q '^email: same' data/b.yml && { echo twice; exit 1; }\n" +
			"grep -q gone data/a.yml && echo would delete a\n" +
			"[ -z \"$PRCHECK_GITLAB_TOKEN\" ]\n",
		"data/check.yml": "$schema: /app-sre/integration-1.yml\nname: mails\npr_check: {cmd: mails}\n" +
			"schemas: [/person-1.yml]\n",
		"data/a.yml":                 person("a"),
		"data/b.yml":                 person("b"),
		"data/c.yml":                 person("c"),
		"data/room.yml":              "$schema: /room-1.yml\nname: r\n",
		"resources/unused":           "x",
		"schemas/person-1.yml":       "$schema: /m-1.json\ntype: object\nproperties: {name: {type: string}, email: {type: string}}\n",
		"schemas/room-1.yml":         "$schema: /m-1.json\ntype: object\nproperties: {name: {type: string}}\n",
		"graphql-schemas/schema.yml": "$schema: /g-1.yml\nconfs:\n- {name: Person_v1, datafile: /person-1.yml, fields: [{name: name, type: string}]}\n- {name: Query, fields: [{name: people, type: Person_v1, isList: true, datafileSchema: /person-1.yml}]}\n",
	}
	for _, m := range more {
		maps.Copy(files, m)
	}
	r := gitlabtest.NewRepository(t, files)
	r.FastForward = true
	q := &mergeQueue{t: t, repository: r, server: &gitlabtest.Server{Token: queueToken, Repository: r},
		clone: filepath.Join(t.TempDir(), "clone"), state: t.TempDir()}
	at, remote := httptest.NewServer(q.server), httptest.NewServer(r.ServeGit("/", ""))
	t.Cleanup(at.Close)
	t.Cleanup(remote.Close)
	q.env = append(os.Environ(), "CI_API_V4_URL="+at.URL+"/api/v4", "CI_PROJECT_PATH="+gitlabtest.ProjectPath,
		"CI_DEFAULT_BRANCH=main", "XDG_CACHE_HOME="+t.TempDir(), "CI=", "GITLAB_CI=") // its state is not signed
	clone := exec.CommandContext(t.Context(), "git", "clone", "-q", remote.URL+"/", q.clone)
	if out, err := clone.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return q
}

// open opens a merge request that somebody approved.
func (q *mergeQueue) open(name, file, text string) {
	q.t.Helper()
	if _, err := q.repository.Commit(gitlabtest.Change{By: gitlabtest.Jane, Branch: name, Start: q.repository.Head("main"),
		Message: name, Files: map[string]string{file: text}}); err != nil {
		q.t.Fatal(err)
	}
	q.repository.Open(q.t, gitlabtest.MergeRequest{Title: name, Source: name, Target: "main", By: gitlabtest.Jane,
		Labels: []string{"lgtm"}})
}

// git runs git in the clone.
func (q *mergeQueue) git(args ...string) string {
	q.t.Helper()
	out, err := exec.CommandContext(q.t.Context(), "git", append([]string{"-C", q.clone}, args...)...).Output()
	if err != nil {
		q.t.Fatal(err)
	}
	return string(out)
}

// states says how each merge request stands: "merged holds delta".
func (q *mergeQueue) states(table *queue.Table) string {
	var out []string
	for _, r := range table.Rows {
		out = append(out, string(r.State))
	}
	return strings.Join(out, " ")
}

func (q *mergeQueue) loop(flags ...string) *queue.Table {
	q.t.Helper()
	args := append([]string{"run", "merge-queue", "--once", "--format", "json", "--repository", q.clone, "--state",
		q.state}, flags...)
	cmd := exec.CommandContext(q.t.Context(), "reconciler", args...)
	cmd.Env = append(slices.Clone(q.env), "PRCHECK_GITLAB_TOKEN="+queueToken)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	table := &queue.Table{}
	if err == nil {
		err = json.Unmarshal(out, table)
	}
	if err != nil {
		q.t.Fatalf("%v: %s%s", err, out, &stderr)
	}
	return table
}

// delta runs what a dry run of the queue says, and returns the exit code and what it printed.
func (q *mergeQueue) delta(table *queue.Table) (int, string) {
	q.t.Helper()
	raw, err := json.Marshal(table)
	if err != nil {
		q.t.Fatal(err)
	}
	cmd := exec.CommandContext(q.t.Context(), "runner", "delta", "--table", "-", "--repository", q.clone,
		"--state", q.state, "--logs", filepath.Join(q.t.TempDir(), "logs"), "--progress", "none")
	cmd.Env, cmd.Stdin = q.env, bytes.NewReader(raw)
	out, _ := cmd.CombinedOutput()
	return cmd.ProcessState.ExitCode(), string(out)
}

// refuses holds that a table which somebody made up runs nothing, in one clear line.
func (q *mergeQueue) refuses(table *queue.Table) {
	q.t.Helper()
	good, other := table.Starts[0], strings.Repeat("1", 40)
	for name, change := range map[string]func(*queue.Table, *queue.Start){
		"version":      func(t *queue.Table, _ *queue.Start) { t.Version = "prcheck/merge-queue/v9" },
		"base":         func(t *queue.Table, _ *queue.Start) { t.Base = "--help" },
		"unknown base": func(t *queue.Table, _ *queue.Start) { t.Base = other },
		"head":         func(_ *queue.Table, s *queue.Start) { s.Pair.Head = "--output=/tmp/x" },
		"tree":         func(_ *queue.Table, s *queue.Start) { s.Tree = other },
		"no tree":      func(_ *queue.Table, s *queue.Start) { s.Tree = "" },
		"on":           func(_ *queue.Table, s *queue.Start) { s.On = nil },
	} {
		made, start := *table, good
		change(&made, &start)
		made.Starts = []queue.Start{start}
		code, out := q.delta(&made)
		if code < 2 || strings.Contains(out, "runs 1 task") || strings.Contains(out, "panic") {
			q.t.Errorf("%s: got %d: %s", name, code, out)
		}
	}
}

// What nothing reads is merged at once. What has to run is run elsewhere, and merged if it passed on the very trees;
// what fails together with what was merged stays, and is named.
func TestMergeQueueMerges(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts twenty programs")
	}
	q := newMergeQueue(t)
	q.open("room", "data/room.yml", "$schema: /room-1.yml\nname: other\n")
	q.open("first", "data/a.yml", "$schema: /person-1.yml\nname: a\nemail: same\n")
	q.open("second", "data/b.yml", "$schema: /person-1.yml\nname: b\nemail: same\n")
	q.open("third", "data/c.yml", "$schema: /person-1.yml\nname: c\nemail: bad\n")

	refs := strings.TrimSpace(q.git("for-each-ref"))
	table := q.loop("--no-dry-run", "--guess", "2")
	if got := q.states(table); got != "merged delta behind behind" {
		t.Fatalf("got %s: %+v", got, table)
	}
	if len(table.Starts) != 3 || table.Starts[0].IsGuess || !table.Starts[1].IsGuess {
		t.Errorf("got the starts %+v", table.Starts)
	}
	q.refuses(table)
	code, out := q.delta(table)
	if code != 1 || !strings.Contains(out, "1 of 1 task passed") || !strings.Contains(out, "0 of 1 task passed") {
		t.Fatalf("got %d: %s", code, out)
	}
	table = q.loop("--no-dry-run", "--guess", "2")
	if got := q.states(table); got != "merged red delta" { // the third one ran on top of the second one only
		t.Fatalf("got %s: %+v\n%s", got, table, out)
	}
	if text := table.Rows[1].Text; !strings.Contains(text, "mails") {
		t.Errorf("got %q", text)
	}
	main := q.repository.Head("main")
	for file, want := range map[string]string{"data/a.yml": "same", "data/b.yml": "b@x", "data/room.yml": "other"} {
		if got, _ := q.repository.File(main, file); !strings.Contains(got, want) {
			t.Errorf("%s is %q, want %s", file, got, want)
		}
	}
	if code, out = q.delta(table); code != 1 {
		t.Errorf("got %d: %s", code, out)
	}
	if got := q.states(q.loop("--no-dry-run", "--guess", "2")); got != "red red" {
		t.Errorf("got %s", got)
	}
	if now := strings.TrimSpace(q.git("for-each-ref")); now != refs {
		t.Errorf("the clone has %s, and had %s", now, refs)
	}
	for _, wrong := range q.server.Wrong() {
		t.Error(wrong)
	}
}

// What a run announces is asked about as in a pipeline: the merge request waits for the label.
func TestMergeQueueAsksForLabels(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts ten programs")
	}
	q := newMergeQueue(t)
	q.open("gone", "data/a.yml", "$schema: /person-1.yml\nname: a\nemail: gone\n")
	if code, out := q.delta(q.loop("--no-dry-run")); code != 0 {
		t.Fatalf("got %d: %s", code, out)
	}
	table := q.loop("--no-dry-run")
	if got := table.Rows[0]; got.State != queue.Waiting || got.Reason.Why != queue.LabelNeeded ||
		!slices.Equal(got.Reason.Names, []string{"deletions-reviewed"}) {
		t.Fatalf("got %+v", got)
	}
	if err := q.repository.Label(1, gitlabtest.Jane, []string{"deletions-reviewed"}, nil); err != nil {
		t.Fatal(err)
	}
	if got := q.states(q.loop("--no-dry-run")); got != "merged" {
		t.Errorf("got %s", got)
	}
}

// owned are files by which zoe may approve the mails of two people, and a check that reads rooms alone.
var owned = map[string]string{
	"data/type.yml": "$schema: /app-interface/change-type-1.yml\nname: mails\ncontextType: datafile\n" +
		"contextSchema: /person-1.yml\nchanges:\n- provider: jsonPath\n  jsonPathSelectors: [email]\n",
	"data/role.yml": "$schema: /access/role-1.yml\nname: people\nself_service:\n- change_type: {$ref: /type.yml}\n" +
		"  datafiles: [{$ref: /a.yml}, {$ref: /b.yml}]\n",
	"data/zoe.yml": "$schema: /access/user-1.yml\norg_username: zoe\nroles: [{$ref: /role.yml}]\n",
	"data/check.yml": "$schema: /app-sre/integration-1.yml\nname: mails\npr_check: {cmd: mails}\n" +
		"schemas: [/room-1.yml]\n",
	"schemas/app-interface/change-type-1.yml": "$schema: /m-1.json\ntype: object\n",
	"schemas/access/role-1.yml":               "$schema: /m-1.json\ntype: object\n",
	"schemas/access/user-1.yml":               "$schema: /m-1.json\ntype: object\n",
}

// With --owners each place of the rebased head must be approved by somebody whom the branch names for it. What was
// approved holds on another base.
func TestMergeQueueAsksOwners(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts ten programs")
	}
	q := newMergeQueue(t, owned)
	q.open("first", "data/a.yml", "$schema: /person-1.yml\nname: a\nemail: one@x\n")
	q.open("second", "data/b.yml", "$schema: /person-1.yml\nname: b\nemail: two@x\n")
	q.open("third", "data/room.yml", "$schema: /room-1.yml\nname: third\n") // nobody owns it: the label decides
	if text := q.loop("--owners").Rows[0].Text; !strings.HasSuffix(text, "is not here: fetch it first") {
		t.Errorf("a dry run without the commits says %q", text)
	}
	if table := q.loop("--owners", "--no-dry-run"); q.states(table) != "waiting waiting delta" {
		t.Fatalf("got %+v", table)
	}
	for _, n := range []gitlabtest.Note{{ID: 901, By: "eve", Body: "/lgtm"}, {ID: 902, By: "zoe", Body: "/lgtm"}} {
		n.At = time.Now()
		if err := q.repository.AddNote(2, n); err != nil {
			t.Fatal(err)
		}
	}
	table := q.loop("--owners", "--no-dry-run")
	if got := q.states(table); got != "waiting merged delta" {
		t.Fatalf("got %s: %+v", got, table)
	}
	if err := q.repository.AddNote(1, gitlabtest.Note{ID: 903, By: "zoe", Body: "/lgtm", At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if got := q.states(q.loop("--owners", "--no-dry-run")); got != "merged delta" { // on another base
		t.Errorf("got %s", got)
	}
	for _, wrong := range q.server.Wrong() {
		t.Error(wrong)
	}
}

// What is taken back between the proof and the merge, while GitLab rebases, is asked about again.
func TestMergeQueueAsksAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts ten programs")
	}
	for name, takeBack := range map[string]func(*mergeQueue) error{
		"nothing": func(*mergeQueue) error { return nil },
		"approval": func(q *mergeQueue) error {
			return q.repository.AddNote(1, gitlabtest.Note{ID: 902, By: "zoe", Body: "/lgtm cancel", At: time.Now()})
		},
		"hold": func(q *mergeQueue) error {
			return q.repository.AddNote(1, gitlabtest.Note{ID: 902, By: "zoe", Body: "/hold", At: time.Now()})
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := newMergeQueue(t, owned)
			q.open("first", "data/a.yml", "$schema: /person-1.yml\nname: a\nemail: one@x\n")
			if err := q.repository.AddNote(1, gitlabtest.Note{ID: 901, By: "zoe", Body: "/lgtm", At: time.Now()}); err != nil {
				t.Fatal(err)
			}
			q.moveMain()
			q.whileRebasing(func() error { return takeBack(q) })
			want := map[bool]string{true: "merged", false: "holds"}[name == "nothing"]
			if table := q.loop("--owners", "--no-dry-run"); q.states(table) != want {
				t.Errorf("got %+v", table)
			}
		})
	}
}

// A label that effects need, and that goes while GitLab rebases, is asked for again.
func TestMergeQueueAsksAgainForLabels(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts ten programs")
	}
	q := newMergeQueue(t)
	q.open("gone", "data/a.yml", "$schema: /person-1.yml\nname: a\nemail: gone\n")
	label := func(add, remove []string) error { return q.repository.Label(1, gitlabtest.Jane, add, remove) }
	if err := label([]string{"deletions-reviewed"}, nil); err != nil {
		t.Fatal(err)
	}
	q.moveMain()
	if code, out := q.delta(q.loop("--no-dry-run")); code != 0 {
		t.Fatalf("got %d: %s", code, out)
	}
	q.whileRebasing(func() error { return label(nil, []string{"deletions-reviewed"}) })
	if table := q.loop("--no-dry-run"); q.states(table) != "holds" || table.Rows[0].Text != "approval withdrawn" {
		t.Errorf("got %+v", table)
	}
}

// moveMain commits something that nothing reads to the branch, so that merge requests have to be rebased.
func (q *mergeQueue) moveMain() {
	q.t.Helper()
	if _, err := q.repository.Commit(gitlabtest.Change{By: gitlabtest.Jane, Branch: "main", Message: "moved",
		Files: map[string]string{"README.md": "moved\n"}}); err != nil {
		q.t.Fatal(err)
	}
}

// whileRebasing lets people do something when GitLab is asked for a rebase.
func (q *mergeQueue) whileRebasing(do func() error) {
	q.server.Fault = func(_ int, r *http.Request) gitlabtest.Fault {
		if strings.HasSuffix(r.URL.Path, "/rebase") {
			if err := do(); err != nil {
				q.t.Error(err)
			}
		}
		return gitlabtest.Fault{}
	}
}
