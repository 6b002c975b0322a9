package ci

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/gitlabtest"
)

func TestReadEnvironment(t *testing.T) {
	job := map[string]string{
		"CI_API_V4_URL": "https://gitlab.test/api/v4", "CI_SERVER_URL": "https://other.test", "CI_PROJECT_ID": "3",
		"CI_PIPELINE_ID":              "100",
		"CI_MERGE_REQUEST_PROJECT_ID": "7", "CI_MERGE_REQUEST_IID": "12", "CI_COMMIT_SHA": gitlabtest.SHA,
		"CI_JOB_URL":            "https://gitlab.test/1",
		"CI_SERVER_TLS_CA_FILE": "/ca.pem", "PRCHECK_GITLAB_TOKEN": " tok\n", "CI_JOB_TOKEN": "job",
		"GITLAB_TOKEN": "not this one",
	}
	want := Environment{
		API: "https://gitlab.test/api/v4", CAFile: "/ca.pem", Token: Token{Value: "tok"},
		JobToken:     Token{Value: "job", Job: true},
		MergeRequest: MergeRequest{7, 12}, Commit: Commit{3, 100, gitlabtest.SHA}, JobURL: "https://gitlab.test/1",
		Generation: 100,
	}
	tests := []struct {
		name string
		set  map[string]string
		want func(*Environment)
		err  string
	}{
		{"a fork's merge request", nil, func(*Environment) {}, ""},
		{"a child pipeline", map[string]string{"PRCHECK_GENERATION": "99"}, func(e *Environment) { e.Generation = 99 }, ""},
		{"by the server", map[string]string{"CI_API_V4_URL": "", "CI_SERVER_URL": "http://127.0.0.1:80/git/"},
			func(e *Environment) { e.API = "http://127.0.0.1:80/git/api/v4" }, ""},
		{"no address", map[string]string{"CI_API_V4_URL": "", "CI_SERVER_URL": ""}, func(e *Environment) { e.API = "" }, ""},
		{"a branch", map[string]string{"CI_MERGE_REQUEST_PROJECT_ID": "", "CI_MERGE_REQUEST_IID": ""}, func(e *Environment) {
			e.MergeRequest = MergeRequest{}
		}, ""},
		{"no number", map[string]string{"CI_PIPELINE_ID": "1e3"}, nil, `CI_PIPELINE_ID is "1e3" and not a number`},
		{"negative", map[string]string{"PRCHECK_GENERATION": "-1"}, nil, `PRCHECK_GENERATION is "-1" and not a number`},
		{"a file", map[string]string{"CI_API_V4_URL": "file:///etc/passwd/api/v4"}, nil,
			"CI_API_V4_URL is not an address such as https://gitlab.example.com/api/v4"},
		{"with a password", map[string]string{"CI_API_V4_URL": "https://a:tok@gitlab.test/api/v4"}, nil,
			"CI_API_V4_URL is not an address such as https://gitlab.example.com/api/v4"},
		{"with a query", map[string]string{"CI_API_V4_URL": "https://gitlab.test/api/v4?private_token=tok"}, nil,
			"CI_API_V4_URL is not an address such as https://gitlab.example.com/api/v4"},
		{"another version", map[string]string{"CI_API_V4_URL": "https://gitlab.test/api/v3"}, nil,
			"CI_API_V4_URL does not end with /api/v4"},
		{"no commit", map[string]string{"CI_COMMIT_SHA": "../../user"}, nil,
			`CI_COMMIT_SHA is "../../user" and not the id of a commit`},
		{"no token", map[string]string{"PRCHECK_GITLAB_TOKEN": "a\r\nX: b"}, nil,
			"PRCHECK_GITLAB_TOKEN holds a character that no token has"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			vars := maps.Clone(job)
			maps.Copy(vars, tt.set)
			got, err := ReadEnvironment(func(name string) string { return vars[name] })
			if errorText(err) != tt.err {
				t.Fatalf("got %v, want %s", err, tt.err)
			}
			if want := want; tt.want != nil {
				tt.want(&want)
				if got != want {
					t.Errorf("got  %#v\nwant %#v", got, want)
				}
			}
		})
	}
}

// A printed token shows *** only.
func TestTokenHides(t *testing.T) {
	for _, form := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		for _, value := range []any{Token{Value: secret}, Environment{Token: Token{Value: secret}}} {
			if text := fmt.Sprintf(form, value); strings.Contains(text, "canary") {
				t.Errorf("%s gives %s", form, text)
			}
		}
	}
}
