package builds

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/systems/jsonapi"
)

// most is how many builds of a job are asked for, the newest first.
const most = 100

// maxDepth is in how many folders a job may be.
const maxDepth = 8

// Jenkins reads builds. It implements [services.Builds].
type Jenkins struct{ api *jsonapi.Client }

// New returns a client.
func New(api *jsonapi.Client) *Jenkins { return &Jenkins{api} }

// A job is a job or a folder as Jenkins tells it.
type job struct {
	Name   string   `json:"name"`
	Builds *[]build `json:"builds"` // nil for a folder
	Jobs   *[]job   `json:"jobs"`   // nil for a job
}

// A build is a build as Jenkins tells it.
type build struct {
	Number    int     `json:"number"`
	Result    *string `json:"result"`
	ChangeSet struct {
		Items []struct {
			Commit string `json:"commitId"`
		} `json:"items"`
	} `json:"changeSet"`
}

// Jobs implements [services.Builds].
func (c *Jenkins) Jobs(ctx context.Context, server string, login services.Login,
	jobs []string) (map[string][]services.Build, error) {
	depth := 1
	wanted := map[string]bool{}
	for _, name := range jobs {
		wanted[name] = true
		depth = max(depth, strings.Count(name, "/job/")+1)
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("reading builds of %.200s: a job is in more than %d folders", jsonapi.Name(server), maxDepth)
	}
	var top job
	if err := c.api.Get(ctx, server, url.Values{"tree": {tree(depth)}}, login, []string{"api", "json"}, &top); err != nil {
		return nil, fmt.Errorf("reading builds of %.200s: %w", jsonapi.Name(server), err)
	}
	if top.Jobs == nil {
		return nil, fmt.Errorf("reading builds of %.200s: its answer has no list of jobs", jsonapi.Name(server))
	}
	out := map[string][]services.Build{}
	if err := collect(*top.Jobs, "", wanted, out); err != nil {
		return nil, fmt.Errorf("reading builds of %.200s: %w", jsonapi.Name(server), err)
	}
	return out, nil
}

// tree returns what is asked for, in the words of Jenkins.
func tree(depth int) string {
	below := ""
	if depth > 1 {
		below = "," + tree(depth-1)
	}
	return fmt.Sprintf("jobs[name,builds[number,result,changeSet[items[commitId]]]{0,%d}%s]", most, below)
}

// collect adds the builds of the jobs that are wanted.
func collect(jobs []job, above string, wanted map[string]bool, out map[string][]services.Build) error {
	for _, j := range jobs {
		name := above + j.Name
		if wanted[name] && j.Builds != nil {
			list := make([]services.Build, len(*j.Builds))
			for i, b := range *j.Builds {
				if b.Number < 1 || i > 0 && b.Number >= list[i-1].Number {
					return fmt.Errorf("the builds of job %.100q are not the newest first", name)
				}
				list[i] = b.told()
			}
			out[name] = list
		}
		if j.Jobs == nil {
			continue
		}
		if err := collect(*j.Jobs, name+"/job/", wanted, out); err != nil {
			return err
		}
	}
	return nil
}

// told returns a build in our words.
func (b build) told() services.Build {
	out := services.Build{Number: b.Number}
	if b.Result != nil {
		out.Result = *b.Result
	}
	if items := b.ChangeSet.Items; len(items) > 0 && isCommit(items[0].Commit) {
		out.Commit = items[0].Commit
	}
	return out
}

// isCommit reports whether a text is a full sha.
func isCommit(text string) bool {
	return len(text) == 40 && strings.Trim(text, "0123456789abcdef") == ""
}
