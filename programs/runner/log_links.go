package runner

import (
	"net/url"
	"path/filepath"

	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/safepath"
	"github.com/app-sre/prcheck/plan"
)

// logLinks returns a function that returns the address of the log of a task for a page: the
// page of GitLab that shows it, or in no job of GitLab the path of the file, relative to the
// page. The function returns "" for a log that is not found.
func logLinks(env cli.Env, page string, folders []string, results *plan.Results) func(task string) string {
	if at, err := ci.ReadEnvironment(env.Getenv); err == nil && at.JobURL != "" {
		return ci.LogURLs(at.JobURL, folders, results)
	}
	logs := make(map[string]string, len(results.Results))
	for _, r := range results.Results {
		logs[r.Task] = r.Log
	}
	return func(task string) string {
		name := logs[task]
		if !filepath.IsLocal(name) {
			return ""
		}
		if info, err := safepath.Stat(name); err != nil || !info.Mode().IsRegular() {
			return ""
		}
		path, err := filepath.Rel(filepath.Dir(page), name)
		if err != nil {
			path = name // the page is a stream, or elsewhere on the disk: take it for one that will lie here
		}
		return "./" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
	}
}
