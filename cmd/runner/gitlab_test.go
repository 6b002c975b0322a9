package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/app-sre/prcheck/doubles/gitlabtest"
)

// canaryToken is the token of the scripts, in the forms that must not be seen.
const canaryToken = "glpat-canary/tok+en_123"

// A lab is the GitLab of one script.
type lab struct {
	server  *gitlabtest.Server
	mu      sync.Mutex
	method  string
	source  *httptest.Server // of members
	members []string
	fault   gitlabtest.Fault
	now     time.Time // of what people do
	pushes  int
}

type labKey struct{}

// gitlab start starts a GitLab and sets the variables of a job in it.
// gitlab fault METHOD STATUS [BODY] lets it answer so from now on.
// gitlab label NAME... gives the merge request these labels and no others.
// gitlab note BODY adds a note of the bot, gitlab status NAME STATE a status.
// gitlab job PIPELINE ID NAME FILE... adds a job with artifacts, and gitlab child
// PIPELINE ID NAME CHILD one that started a pipeline.
// gitlab push FILE gives the merge request of zoe a version; the file has its commit and the one it starts from.
// gitlab merged FILE starts a pipeline of merged results; the file has its commit, the head and the target.
// gitlab say NAME BODY lets somebody write a comment a minute later.
// gitlab members NAME... lets another system at $MEMBERS_URL name the members of guests, or be silent.
// gitlab labels prints the labels of the merge request.
// gitlab show prints its notes and statuses.
func gitlab(ts *testscript.TestScript, _ bool, args []string) {
	l := ts.Value(labKey{}).(*lab)
	switch args[0] {
	case "start":
		l.start(ts)
	case "fault":
		l.mu.Lock()
		defer l.mu.Unlock()
		status, err := strconv.Atoi(args[2])
		ts.Check(err)
		l.method, l.fault = args[1], gitlabtest.Fault{Status: status, Body: strings.Join(args[3:], " "), Undone: true}
	case "note":
		l.server.AddNote(gitlabtest.Note{Author: gitlabtest.Bot, Body: args[1]})
	case "status":
		l.server.AddStatus(gitlabtest.Status{Pipeline: gitlabtest.Pipeline, Author: gitlabtest.Bot, Name: args[1],
			State: args[2]})
	case "label":
		l.server.SetLabels(args[1:]...)
	case "job", "child":
		l.job(ts, args)
	case "push":
		l.push(ts, strings.Fields(ts.ReadFile(args[1])))
	case "merged":
		commits := strings.Fields(ts.ReadFile(args[1]))
		l.server.AddPipeline(gitlabtest.Pipeline+50, commits[0])
		ts.Setenv("CI_PIPELINE_ID", strconv.Itoa(gitlabtest.Pipeline+50))
		ts.Setenv("CI_COMMIT_SHA", commits[0])
		ts.Setenv("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", commits[1])
		ts.Setenv("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", commits[2])
	case "say":
		l.now = l.now.Add(time.Minute)
		l.server.AddNote(gitlabtest.Note{Author: 900, By: args[1], Body: args[2], At: l.now})
	case "quote": // what a file has
		l.now = l.now.Add(time.Minute)
		l.server.AddNote(gitlabtest.Note{Author: 900, By: args[1], Body: ts.ReadFile(args[2]), At: l.now})
	case "members":
		l.setMembers(ts, args[1:])
	case "labels":
		fmt.Fprintln(ts.Stdout(), strings.Join(slices.Sorted(slices.Values(l.server.Labels())), ", "))
	case "show":
		l.show(ts)
	default:
		ts.Fatalf("gitlab cannot %s", args[0])
	}
}

// setMembers lets another system name the members of each group that it is asked for; without a name it is silent.
func (l *lab) setMembers(ts *testscript.TestScript, names []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.members = names; l.source != nil {
		return
	}
	l.source = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		defer l.mu.Unlock()
		var users []string
		for _, name := range l.members {
			users = append(users, fmt.Sprintf(`{"org_username": %q}`, name))
		}
		if len(users) == 0 || r.Header.Get("Authorization") != "Basic c2VjcmV0" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintf(w, `{"data": {"roles": [{"name": "guests", "users": [%s], "bots": []}]}}`,
			strings.Join(users, ", "))
	}))
	ts.Defer(l.source.Close)
	ts.Setenv("MEMBERS_URL", l.source.URL)
}

func (l *lab) start(ts *testscript.TestScript) {
	l.server = &gitlabtest.Server{Token: canaryToken, JobToken: "job" + canaryToken}
	l.server.Fault = func(_ int, r *http.Request) gitlabtest.Fault {
		l.mu.Lock()
		defer l.mu.Unlock()
		if r.Method == l.method {
			return l.fault
		}
		return gitlabtest.Fault{}
	}
	s := httptest.NewServer(l.server)
	ts.Defer(func() {
		s.Close()
		if wrong := l.server.Wrong(); len(wrong) > 0 {
			ts.Fatalf("%q", wrong)
		}
	})
	for name, value := range map[string]string{
		"CI_API_V4_URL": s.URL + "/api/v4", "CI_PROJECT_ID": strconv.Itoa(gitlabtest.Project),
		"CI_PIPELINE_ID":              strconv.Itoa(gitlabtest.Pipeline),
		"CI_MERGE_REQUEST_PROJECT_ID": strconv.Itoa(gitlabtest.Project), "CI_MERGE_REQUEST_IID": strconv.Itoa(gitlabtest.IID),
		"CI_COMMIT_SHA": gitlabtest.SHA, "CI_JOB_URL": "https://gitlab.test/jobs/1", "CI_JOB_TOKEN": "job" + canaryToken,
		"PRCHECK_GITLAB_TOKEN": canaryToken,
	} {
		ts.Setenv(name, value)
	}
}

// push gives the merge request a version, and a pipeline in which the next job runs.
func (l *lab) push(ts *testscript.TestScript, commits []string) {
	l.now = l.now.Add(time.Hour)
	if l.pushes++; l.pushes == 1 {
		l.now = time.Date(2026, 1, 19, 8, 0, 0, 0, time.UTC)
		l.server.SetProposal(gitlabtest.Proposal{Author: "zoe", Opened: l.now})
	}
	pipeline := gitlabtest.Pipeline + l.pushes
	l.server.AddPipeline(pipeline, commits[0])
	l.server.Push(gitlabtest.Version{Head: commits[0], Base: commits[1], At: l.now})
	ts.Setenv("CI_COMMIT_SHA", commits[0])
	ts.Setenv("CI_MERGE_REQUEST_DIFF_BASE_SHA", commits[1])
	ts.Setenv("CI_PIPELINE_ID", strconv.Itoa(pipeline))
}

func (l *lab) job(ts *testscript.TestScript, args []string) {
	pipeline, err := strconv.Atoi(args[1])
	ts.Check(err)
	id, err := strconv.Atoi(args[2])
	ts.Check(err)
	j := gitlabtest.Job{Pipeline: pipeline, ID: id, Name: args[3], Status: "success"}
	if args[0] == "child" {
		j.Child, err = strconv.Atoi(args[4])
		ts.Check(err)
	} else if len(args) > 4 {
		var archive bytes.Buffer
		z := zip.NewWriter(&archive)
		for _, name := range args[4:] {
			w, err := z.Create(filepath.ToSlash(name))
			ts.Check(err)
			_, err = w.Write([]byte(ts.ReadFile(name)))
			ts.Check(err)
		}
		ts.Check(z.Close())
		j.Archive = archive.Bytes()
	}
	l.server.AddJob(j)
}

func (l *lab) show(ts *testscript.TestScript) {
	out := ts.Stdout() // which forgets what was there
	for _, n := range l.server.Notes("") {
		fmt.Fprintf(out, "note %d: %s\n", n.ID, n.Body)
	}
	for _, s := range l.server.Statuses() {
		fmt.Fprintf(out, "status %s: %s, %s\n", s.Name, s.State, s.Description)
	}
}
