package ci

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// A Token is an access token of GitLab.
type Token struct {
	Value string
	Job   bool // whether it is the token of a job, which may read little and write nothing
}

// String returns ***, so that the token is never printed.
func (Token) String() string { return "***" }

// GoString returns ***, so that the token is never printed.
func (Token) GoString() string { return "***" }

// tokenHeaders are the headers in which requests send tokens.
var tokenHeaders = []string{"PRIVATE-TOKEN", "JOB-TOKEN"}

// TokenVariable is the name of the environment variable with the token for GitLab. No other
// variable is used, so that nobody posts under another name by accident.
const TokenVariable = "PRCHECK_GITLAB_TOKEN" //nolint:gosec // a name, not a token

// An Environment holds the data of a GitLab job that its environment variables contain.
// Unknown values are zero.
type Environment struct {
	API          string // address of version 4 of the API
	CAFile       string
	Token        Token // writes notes and statuses
	JobToken     Token
	MergeRequest MergeRequest
	Commit       Commit // commit of the pipeline
	JobURL       string
	PipelineURL  string
	Generation   int64 // generation of the plan: the id of the outermost pipeline
}

// A MergeRequest identifies a merge request.
type MergeRequest struct {
	Project int // id of the target project
	IID     int // number of the merge request in its project
}

// A Commit identifies a commit in one pipeline. Statuses are set on it.
type Commit struct {
	Project  int // id of the project in which the pipeline runs
	Pipeline int
	SHA      string
}

// ReadEnvironment reads the variables that GitLab sets in a job. An error names each
// variable whose value GitLab would not set.
func ReadEnvironment(getenv func(string) string) (Environment, error) {
	e := Environment{CAFile: getenv("CI_SERVER_TLS_CA_FILE"), JobURL: getenv("CI_JOB_URL"),
		PipelineURL: getenv("CI_PIPELINE_URL")}
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
	if e.API, err = apiAddress(getenv("CI_API_V4_URL"), getenv("CI_SERVER_URL")); err != nil {
		errs = append(errs, err)
	}
	if e.Token, err = parseToken(TokenVariable, getenv(TokenVariable)); err != nil {
		errs = append(errs, err)
	}
	if e.JobToken, err = parseToken("CI_JOB_TOKEN", getenv("CI_JOB_TOKEN")); err != nil {
		errs = append(errs, err)
	}
	e.JobToken.Job = true
	return e, errors.Join(errs...)
}

// commitSHA matches the id of a commit.
var commitSHA = lazyregexp.New(`^[0-9a-f]{40,64}$`)

// apiAddress returns the address of the API, "" if it is not known.
func apiAddress(api, server string) (string, error) {
	name, at := "CI_API_V4_URL", api
	if api == "" && server != "" {
		name, at = "CI_SERVER_URL", strings.TrimRight(server, "/")+"/api/v4"
	}
	if at == "" {
		return "", nil
	}
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		// without the value, which may contain a password
		return "", fmt.Errorf("%s is not an address such as https://gitlab.example.com/api/v4", name)
	}
	if !strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/api/v4") {
		return "", fmt.Errorf("%s does not end with /api/v4", name)
	}
	return strings.TrimRight(at, "/"), nil
}

// parseToken returns the token in an environment variable. Its errors do not contain the
// token.
func parseToken(name, value string) (Token, error) {
	value = strings.TrimSpace(value)
	for i := range len(value) {
		if value[i] <= ' ' || value[i] > '~' {
			return Token{}, fmt.Errorf("%s holds a character that no token has", name)
		}
	}
	return Token{Value: value}, nil
}
