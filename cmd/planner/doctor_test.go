package main

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/app-sre/prcheck/doubles/fakes3"
	"github.com/app-sre/prcheck/doubles/gitlabtest"
)

// gitlab ROLE SCOPES EXPIRES AHEAD starts a GitLab whose bot has a role, a token with scopes
// ("-" for a server that knows no tokens) that expires on a day (or never), and a clock that
// is ahead by a duration. The variables of the script name it.
func gitlab(ts *testscript.TestScript, _ bool, args []string) {
	const token = "glpat-not-to-be-shown" //nolint:gosec // of a test
	role, err := strconv.Atoi(args[0])
	ts.Check(err)
	ahead, err := time.ParseDuration(args[3])
	ts.Check(err)
	s := &gitlabtest.Server{Token: token, Rights: gitlabtest.Rights{Access: role, Scopes: strings.Split(args[1], ",")}}
	if args[1] == "-" {
		s.Rights.Scopes = nil
	}
	if args[2] != "never" {
		s.Rights.Expires = args[2]
	}
	s.Header = http.Header{"Date": {time.Now().Add(ahead).UTC().Format(http.TimeFormat)}}
	h := httptest.NewServer(s)
	ts.Defer(h.Close)
	ts.Setenv("CI_API_V4_URL", h.URL+"/api/v4")
	ts.Setenv("CI_PROJECT_ID", strconv.Itoa(gitlabtest.Project))
	ts.Setenv("CI_MERGE_REQUEST_PROJECT_ID", strconv.Itoa(gitlabtest.Project))
	ts.Setenv("CI_MERGE_REQUEST_IID", strconv.Itoa(gitlabtest.IID))
	ts.Setenv("PRCHECK_GITLAB_TOKEN", token)
}

// bucket FAULT starts an S3 server with the empty bucket "memory": good, locked (it refuses
// writes), or down.
func bucket(ts *testscript.TestScript, _ bool, args []string) {
	fake := fakes3.New()
	fake.Fail(func(r *http.Request) fakes3.Fault {
		switch {
		case args[0] == "down":
			return fakes3.Fault{Status: http.StatusServiceUnavailable}
		case args[0] == "locked" && (r.Method == http.MethodPut || r.Method == http.MethodDelete):
			return fakes3.Fault{Status: http.StatusForbidden}
		}
		return fakes3.Fault{}
	})
	h := httptest.NewServer(fake)
	ts.Defer(h.Close)
	fake.URL = h.URL
	for name, value := range fake.Environ() {
		ts.Setenv(name, value)
	}
}
