package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
)

// maxWords bounds what is read of what planner said, in bytes.
const maxWords = 64 << 10

// lastWords returns the end of what planner said when it could make no plan. It
// never returns nothing: planner may have died without a word.
func lastWords(name string) (string, error) {
	const none = "planner left no word: see the log of the job that plans"
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return none, nil
	case err == nil && !info.Mode().IsRegular():
		err = fmt.Errorf("%q is no file", name)
	}
	if err != nil {
		return "", cli.Invalid(fmt.Errorf("reading what planner said: %w", err))
	}
	f, err := os.Open(name)
	if err != nil {
		return "", cli.Invalid(fmt.Errorf("reading what planner said: %w", err))
	}
	defer f.Close()
	raw := make([]byte, min(info.Size(), maxWords))
	from := info.Size() - int64(len(raw))
	n, err := f.ReadAt(raw, from)
	if raw = raw[:n]; n == 0 && err != nil && info.Size() > 0 {
		return "", cli.Invalid(fmt.Errorf("reading what planner said: %w", err))
	}
	if from > 0 { // half a line, which may hold half a secret
		_, raw, _ = bytes.Cut(raw, []byte("\n"))
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return none, nil
	}
	return string(raw), nil
}

// reportAddress returns where GitLab shows the report that the job keeps, "" when
// there is none.
func (f commentFlags) reportAddress(at ci.Environment, env cli.Env) string {
	if f.report == "" {
		return ""
	}
	if info, err := os.Stat(f.report); err != nil || !info.Mode().IsRegular() {
		_, _ = fmt.Fprintf(env.Stderr, "runner: there is no report %s for the note to lead to\n", f.report) // only a note
		return ""
	}
	return artifact(at.JobURL, f.report)
}

// artifact returns where GitLab shows a file that a job keeps.
func artifact(job, name string) string {
	at, err := url.Parse(job)
	if err != nil || job == "" {
		return ""
	}
	return at.JoinPath("artifacts", "file", (&url.URL{Path: name}).EscapedPath()).String()
}

// collected is a folder of a job that runner collect unpacked.
var collected = regexp.MustCompile(`^job-([0-9]+)/(.+\.log)$`)

// logAddresses returns where GitLab shows the log of a task, as far as runner
// collect found the job of this project that keeps it.
func (f commentFlags) logAddresses(at ci.Environment, results *plan.Results) func(task string) string {
	found := map[string]string{} // by folder and name
	jobs, _, ok := strings.Cut(at.JobURL, "/-/jobs/")
	for _, dir := range f.parts {
		_ = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error { // without it there is no link
			if m := collected.FindStringSubmatch(name); ok && err == nil && m != nil && d.Type().IsRegular() {
				found[place(m[2])] = artifact(jobs+"/-/jobs/"+m[1], m[2])
			}
			return nil
		})
	}
	logs := map[string]string{}
	for _, r := range results.Results {
		if r.Log != "" {
			logs[r.Task] = found[place(r.Log)]
		}
	}
	return func(task string) string { return logs[task] }
}

// place is what the log of a task and the file in a collected folder share: their
// name and that of the folder they are in.
func place(name string) string {
	name = filepath.ToSlash(name)
	return path.Join(path.Base(path.Dir(name)), path.Base(name))
}
