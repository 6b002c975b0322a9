package ci

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/safepath"
	"github.com/app-sre/prcheck/plan"
)

// maxLastWords is the number of bytes that are read of the output of planner.
const maxLastWords = 64 << 10

// ReadLastWords returns the end of the file with the output of a planner that could
// make no plan. If there is none, because planner died, it returns a sentence that
// says so. Only whole lines are returned: a part of a line may hold a part of a
// secret, which could not be masked.
func ReadLastWords(name string) (string, error) {
	const none = "planner left no word: see the log of the job that plans"
	info, err := safepath.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return none, nil
	case err == nil && !info.Mode().IsRegular():
		err = fmt.Errorf("%q is no file", name)
	}
	if err != nil {
		return "", fmt.Errorf("reading what planner said: %w", err)
	}
	f, err := safepath.Open(name)
	if err != nil {
		return "", fmt.Errorf("reading what planner said: %w", err)
	}
	defer f.Close()
	raw := make([]byte, min(info.Size(), maxLastWords))
	start := info.Size() - int64(len(raw))
	n, err := f.ReadAt(raw, start)
	if raw = raw[:n]; n == 0 && err != nil && info.Size() > 0 {
		return "", fmt.Errorf("reading what planner said: %w", err)
	}
	if start > 0 {
		_, raw, _ = bytes.Cut(raw, []byte("\n"))
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return none, nil
	}
	return string(raw), nil
}

// MaskResults masks tokens in all texts of results that come from tasks, in place. It
// must be called before these texts are escaped, since an escaped token is not found.
func MaskResults(results *plan.Results, tokens ...Token) {
	for i := range results.Results {
		r := &results.Results[i]
		r.Tail, r.Reason = Mask(r.Tail, tokens...), Mask(r.Reason, tokens...)
		for k := range r.Before {
			r.Before[k].Reason = Mask(r.Before[k].Reason, tokens...)
		}
		maskEffects(r.Effects, tokens...)
		for k := range r.Findings {
			r.Findings[k].Message = Mask(r.Findings[k].Message, tokens...)
		}
		if r.Baseline != nil {
			r.Baseline.Finding = Mask(r.Baseline.Finding, tokens...)
			for k, text := range r.Baseline.LeftOut {
				r.Baseline.LeftOut[k] = Mask(text, tokens...)
			}
		}
	}
	for i, w := range results.Warnings {
		results.Warnings[i] = Mask(w, tokens...)
	}
}

// maskEffects masks tokens in the texts of effects. Nil effects stay nil.
func maskEffects(e *plan.Effects, tokens ...Token) {
	if e == nil {
		return
	}
	e.Unknown, e.Uncompared = Mask(e.Unknown, tokens...), Mask(e.Uncompared, tokens...)
	for i := range e.Items {
		e.Items[i].Subject = Mask(e.Items[i].Subject, tokens...)
	}
	for i, p := range e.Problems {
		e.Problems[i] = Mask(p, tokens...)
	}
}

// ArtifactURL returns the page on which GitLab shows a file that a job keeps, "" if
// the address of the job is not known.
func ArtifactURL(jobURL, file string) string {
	at, err := url.Parse(jobURL)
	if err != nil || jobURL == "" {
		return ""
	}
	return at.JoinPath("artifacts", "file", (&url.URL{Path: file}).EscapedPath()).String()
}

// collectedLog is the path of a log in a folder that [Client.Collect] filled: the
// number of the job, and the log's path among the artifacts of the job.
var collectedLog = lazyregexp.New(`^job-([0-9]+)/(.+\.log)$`)

// LogURLs returns a function that returns the page on which GitLab shows the log of a
// task. It knows the logs in folders that [Client.Collect] filled, and returns "" for
// every other task. JobURL is the address of any job of the project.
func LogURLs(jobURL string, folders []string, results *plan.Results) func(task string) string {
	found := map[string]string{} // by log key
	jobs, _, isJob := strings.Cut(jobURL, "/-/jobs/")
	for _, dir := range folders {
		// without the folder there is no link
		_ = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
			if m := collectedLog.FindStringSubmatch(name); isJob && err == nil && m != nil && d.Type().IsRegular() {
				found[logKey(m[2])] = ArtifactURL(jobs+"/-/jobs/"+m[1], m[2])
			}
			return nil
		})
	}
	logs := map[string]string{} // by task
	for _, r := range results.Results {
		if r.Log != "" {
			logs[r.Task] = found[logKey(r.Log)]
		}
	}
	return func(task string) string { return logs[task] }
}

// logKey returns the part of a log's path that is the same in results and in a
// collected folder: the names of its folder and of the file.
func logKey(name string) string {
	name = filepath.ToSlash(name)
	return path.Join(path.Base(path.Dir(name)), path.Base(name))
}
