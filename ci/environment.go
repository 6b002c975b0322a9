package ci

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// A Token is a secret of GitLab and the way to send it.
type Token struct {
	Value string
	Job   bool // it is that of a job, which may read little and write nothing
}

// String hides the token where somebody prints it.
func (Token) String() string { return "***" }

// GoString hides the token where somebody prints it.
func (Token) GoString() string { return "***" }

// tokenHeaders are the headers that carry tokens.
var tokenHeaders = []string{"PRIVATE-TOKEN", "JOB-TOKEN"}

// TokenVariable is the variable that the token for GitLab is taken from. No other
// is looked at, so that nobody posts by accident under another name.
const TokenVariable = "PRCHECK_GITLAB_TOKEN" //nolint:gosec // the name of one

// An Environment is what a job of GitLab knows about itself. What is not known is
// zero.
type Environment struct {
	API          string // address of version 4 of the API
	CAFile       string
	Token        Token // for posting
	JobToken     Token
	MergeRequest MergeRequest
	Commit       Commit // of the pipeline
	JobURL       string
	PipelineURL  string
	Generation   int64 // of the plan: the id of the outermost pipeline
}

// A MergeRequest is where a note goes.
type MergeRequest struct {
	Project int // the one it is to be merged into
	IID     int
}

// A Commit is what statuses are set on, in one pipeline.
type Commit struct {
	Project  int // the one the pipeline runs in
	Pipeline int
	SHA      string
}

// ReadEnvironment reads the variables that GitLab sets in a job. An error names
// the variable that is not as GitLab sets it.
func ReadEnvironment(getenv func(string) string) (Environment, error) {
	e := Environment{CAFile: getenv("CI_SERVER_TLS_CA_FILE"), JobURL: getenv("CI_JOB_URL"), PipelineURL: getenv("CI_PIPELINE_URL")}
	var errs []error
	number := func(name string) int {
		value := getenv(name)
		n, err := strconv.Atoi(cmp.Or(value, "0"))
		if err != nil || n < 0 {
			errs = append(errs, fmt.Errorf("%s is %q and not a number", name, value))
		}
		return n
	}
	e.MergeRequest = MergeRequest{Project: number("CI_MERGE_REQUEST_PROJECT_ID"), IID: number("CI_MERGE_REQUEST_IID")}
	e.Commit = Commit{Project: number("CI_PROJECT_ID"), Pipeline: number("CI_PIPELINE_ID"), SHA: getenv("CI_COMMIT_SHA")}
	e.Generation = int64(cmp.Or(number("PRCHECK_GENERATION"), e.Commit.Pipeline))
	if e.Commit.SHA != "" && !commitSHA.MatchString(e.Commit.SHA) {
		errs = append(errs, fmt.Errorf("CI_COMMIT_SHA is %q and not the id of a commit", e.Commit.SHA))
	}
	var err error
	if e.API, err = address(getenv("CI_API_V4_URL"), getenv("CI_SERVER_URL")); err != nil {
		errs = append(errs, err)
	}
	if e.Token, err = token(TokenVariable, getenv(TokenVariable)); err != nil {
		errs = append(errs, err)
	}
	if e.JobToken, err = token("CI_JOB_TOKEN", getenv("CI_JOB_TOKEN")); err != nil {
		errs = append(errs, err)
	}
	e.JobToken.Job = true
	return e, errors.Join(errs...)
}

var commitSHA = regexp.MustCompile(`^[0-9a-f]{40,64}$`)

// address returns the address of the API, "" when it is not known.
func address(api, server string) (string, error) {
	name, at := "CI_API_V4_URL", api
	if api == "" && server != "" {
		name, at = "CI_SERVER_URL", strings.TrimRight(server, "/")+"/api/v4"
	}
	if at == "" {
		return "", nil
	}
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("%s is not an address such as https://gitlab.example.com/api/v4", name) // which may hold a password
	}
	if !strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/api/v4") {
		return "", fmt.Errorf("%s does not end with /api/v4", name)
	}
	return strings.TrimRight(at, "/"), nil
}

// token checks a token without telling it.
func token(name, value string) (Token, error) {
	value = strings.TrimSpace(value)
	for i := range len(value) {
		if value[i] <= ' ' || value[i] > '~' {
			return Token{}, fmt.Errorf("%s holds a character that no token has", name)
		}
	}
	return Token{Value: value}, nil
}
