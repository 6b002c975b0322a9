package ci_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/doubles/gitlabtest"
)

// summary is a Note of one line.
type summary string

func (summary) Marker() string { return "<!-- prcheck:example " }

func (summary) Generation(body string) (g int64, ok bool) {
	_, err := fmt.Sscanf(body, "<!-- prcheck:example %d -->", &g)
	return g, err == nil
}

func (s summary) Body(string) (string, error) {
	return "<!-- prcheck:example 100 -->\n" + string(s), nil
}

func Example() {
	gitlab := httptest.NewServer(&gitlabtest.Server{Token: "glpat-1234"})
	defer gitlab.Close()
	job := map[string]string{
		"CI_API_V4_URL": gitlab.URL + "/api/v4", "PRCHECK_GITLAB_TOKEN": "glpat-1234",
		"CI_MERGE_REQUEST_PROJECT_ID": "7", "CI_MERGE_REQUEST_IID": "12", "CI_PIPELINE_ID": "100",
	}

	at, err := ci.ReadEnvironment(func(name string) string { return job[name] })
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := ci.New(ci.Options{API: at.API, Token: at.Token})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		got, err := client.Publish(context.Background(), at.MergeRequest, summary("all is well"))
		fmt.Println(got.Change, strings.Fields(got.Body)[2:], err)
	}
	// Output:
	// created [100 --> all is well] <nil>
	// untouched [100 --> all is well] <nil>
}
