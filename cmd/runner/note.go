package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"

	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/internal/cli"
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
	job, err := url.Parse(at.JobURL)
	if err != nil || at.JobURL == "" {
		return ""
	}
	return job.JoinPath("artifacts", "file", (&url.URL{Path: f.report}).EscapedPath()).String()
}
