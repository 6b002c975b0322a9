package reconciler

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/gitlabtest"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/queue"
)

// queueServer starts a GitLab with merge requests: one that is approved, one that is held, one that nobody approved.
func queueServer(t *testing.T) (*gitlabtest.Server,
	func(ctx context.Context, args ...string) (stdout, stderr string, err error)) {
	t.Helper()
	const token = "glpat-not-to-be-shown" //nolint:gosec // of a test
	r := gitlabtest.NewRepository(t, map[string]string{"a": "0\n"})
	r.FastForward, r.Pipelines = true, true
	s := &gitlabtest.Server{Token: token, Repository: r}
	for _, m := range []struct {
		name   string
		labels []string
	}{{"one", []string{"lgtm"}}, {"two", []string{"bot/approved: high", "bot/hold"}}, {"three", nil}} {
		if _, err := r.Commit(gitlabtest.Change{By: gitlabtest.Jane, Branch: m.name, Message: m.name,
			Files: map[string]string{m.name: "1\n"}}); err != nil {
			t.Fatal(err)
		}
		r.Open(t, gitlabtest.MergeRequest{Title: "change " + m.name + "\x1b[31m", Source: m.name, Target: "main",
			By: gitlabtest.Jane, Labels: m.labels})
	}
	r.EndPipeline(r.Head("one"), "success")
	at := httptest.NewServer(s)
	t.Cleanup(at.Close)
	return s, func(ctx context.Context, args ...string) (string, string, error) {
		var stdout, stderr bytes.Buffer
		vars := map[string]string{"CI_API_V4_URL": at.URL + "/api/v4", "CI_PROJECT_PATH": gitlabtest.ProjectPath,
			"CI_DEFAULT_BRANCH": "main", "PRCHECK_GITLAB_TOKEN": token}
		env := cli.Env{Args: append([]string{"run", "merge-queue"}, args...), Stdin: strings.NewReader(""), Stdout: &stdout,
			Stderr: &stderr, Getenv: func(name string) string { return vars[name] }}
		err := Run(ctx, env)
		return stdout.String(), stderr.String(), err
	}
}

// The table has all merge requests. What nobody proved is unknown, and nothing is written.
func TestMergeQueue(t *testing.T) {
	s, run := queueServer(t)
	text, _, err := run(t.Context(), "--once", "--compare")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"merge queue of group/project, branch main at ", "(dry run)",
		"1         !1       lgtm                unknown  not proven: no --repository is given to rebase it in", // ripe
		"2         !2       bot/approved: high  waiting  held by bot/hold",
		"-         !3       -                   waiting  nobody who may approved it",
		"!1: it does: merge (position 1); differs: it would merge it; here: not proven",
		"1 of 3 decided differently",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the table lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "\x1b") {
		t.Errorf("a title has control characters:\n%q", text)
	}
	for _, r := range s.Requests() {
		if !strings.HasPrefix(r, http.MethodGet+" ") {
			t.Errorf("a dry run sends %s", r)
		}
	}
	for _, wrong := range s.Wrong() {
		t.Error(wrong)
	}
}

// The document has the same, and no request is ready to be merged.
func TestMergeQueueJSON(t *testing.T) {
	_, run := queueServer(t)
	text, _, err := run(t.Context(), "--once", "--format", "json", "--may-label", "jane")
	if err != nil {
		t.Fatal(err)
	}
	var table queue.Table
	if err := json.Unmarshal([]byte(text), &table); err != nil || strings.Count(text, "\n") != 1 {
		t.Fatalf("%v: %s", err, text)
	}
	if table.Version != queue.TableVersion || !table.IsDryRun || len(table.Rows) != 3 || table.Compared {
		t.Errorf("got %+v", table)
	}
	for _, r := range table.Rows {
		if r.State.MayMerge() || r.Pair.Head == "" || r.Pair.Base != table.Base || r.Text == "" {
			t.Errorf("got %+v", r)
		}
	}
}

// A loop goes on after a round that failed, and ends well when it is told to between two rounds.
func TestMergeQueueLoop(t *testing.T) {
	s, run := queueServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	rounds := 0
	s.Fault = func(_ int, r *http.Request) gitlabtest.Fault {
		if strings.HasSuffix(r.URL.EscapedPath(), "/projects/group%2Fproject") {
			if rounds++; rounds == 1 {
				return gitlabtest.Fault{Status: http.StatusForbidden}
			}
			time.AfterFunc(300*time.Millisecond, cancel) // in the pause
		}
		return gitlabtest.Fault{}
	}
	stdout, stderr, err := run(ctx, "--every", "1s")
	if err != nil || strings.Count(stdout, "merge queue of") != 1 || !strings.Contains(stderr, "reading the project") {
		t.Errorf("%v\n%s\n%s", err, stdout, stderr)
	}
}

// A GitLab that cannot be read is an error that does not have the token.
func TestMergeQueueWithoutAnswer(t *testing.T) {
	s, run := queueServer(t)
	s.Fault = func(int, *http.Request) gitlabtest.Fault { return gitlabtest.Fault{Status: http.StatusForbidden} }
	stdout, _, err := run(t.Context(), "--once")
	if err == nil || stdout != "" || strings.Contains(err.Error(), "glpat") {
		t.Errorf("got %v, %q", err, stdout)
	}
}

// With a clone each approved request is rebased on what is accepted ahead of it, and told with what it has to run.
func TestMergeQueueProves(t *testing.T) {
	const token = "glpat-not-to-be-shown" //nolint:gosec // of a test
	person := func(name, mail string) string {
		return "$schema: /person-1.yml\nname: " + name + "\nemail: " + mail + "\n"
	}
	r := gitlabtest.NewRepository(t, map[string]string{
		"prcheck.yaml":               "version: 1\nexec: {argv: [run, \"{cmd}\"]}\nprograms: none\n",
		"data/check.yml":             "$schema: /app-sre/integration-1.yml\nname: mails\npr_check: {cmd: mails}\nschemas: [/person-1.yml]\n",
		"data/a.yml":                 person("a", "a@x"),
		"data/b.yml":                 person("b", "b@x"),
		"data/room.yml":              "$schema: /room-1.yml\nname: r\n",
		"resources/unused":           "x",
		"schemas/person-1.yml":       "$schema: /m-1.json\ntype: object\nproperties: {name: {type: string}, email: {type: string}}\n",
		"schemas/room-1.yml":         "$schema: /m-1.json\ntype: object\nproperties: {name: {type: string}}\n",
		"graphql-schemas/schema.yml": "$schema: /g-1.yml\nconfs:\n- {name: Person_v1, datafile: /person-1.yml, fields: [{name: name, type: string}]}\n- {name: Query, fields: [{name: people, type: Person_v1, isList: true, datafileSchema: /person-1.yml}]}\n",
	})
	s := &gitlabtest.Server{Token: token, Repository: r}
	for _, m := range []struct{ name, file, text string }{
		{"room", "data/room.yml", "$schema: /room-1.yml\nname: other\n"},
		{"readme", "README.md", "read me\n"},
		{"mail", "data/a.yml", person("a", "new@x")},
		{"also", "data/a.yml", person("a", "else@x")},
	} {
		if _, err := r.Commit(gitlabtest.Change{By: gitlabtest.Jane, Branch: m.name, Message: m.name,
			Files: map[string]string{m.file: m.text}}); err != nil {
			t.Fatal(err)
		}
		r.Open(t, gitlabtest.MergeRequest{Title: m.name, Source: m.name, Target: "main", By: gitlabtest.Jane,
			Labels: []string{"lgtm"}})
	}
	at := httptest.NewServer(s)
	t.Cleanup(at.Close)
	var stdout, stderr bytes.Buffer
	vars := map[string]string{"CI_API_V4_URL": at.URL + "/api/v4", "CI_PROJECT_PATH": gitlabtest.ProjectPath,
		"CI_DEFAULT_BRANCH": "main", "PRCHECK_GITLAB_TOKEN": token, "XDG_CACHE_HOME": t.TempDir()}
	refs := r.Git(t, "for-each-ref")
	err := Run(t.Context(), cli.Env{Args: []string{"run", "merge-queue", "--once", "--format", "json",
		"--repository", r.Dir()}, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
		Getenv: func(name string) string { return vars[name] }})
	var table queue.Table
	if err := errors.Join(err, json.Unmarshal(stdout.Bytes(), &table)); err != nil {
		t.Fatal(err, stderr.String())
	}
	for i, want := range []string{"holds nothing reads what it changes", "holds nothing reads what it changes",
		"delta has to run mails", "behind waits for !3"} {
		if got := string(table.Rows[i].State) + " " + table.Rows[i].Text; got != want {
			t.Errorf("!%d: got %q, want %q", i+1, got, want)
		}
	}
	if now := r.Git(t, "for-each-ref"); now != refs {
		t.Errorf("the repository has %s, and had %s", now, refs)
	}
}
