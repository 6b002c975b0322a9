package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/sanitize"
)

// A Level says how good a finding is.
type Level int

// The levels.
const (
	OK   Level = iota // all is good
	Warn              // prcheck works, but less well than it could
	Fail              // prcheck cannot work, or something is never checked
)

// String returns the level as reports have it.
func (l Level) String() string { return [...]string{"ok", "warn", "fail"}[l] }

// MarshalText encodes the level as its word.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// A Finding is what a check found.
type Finding struct {
	Check  string `json:"check"` // name of the check
	Level  Level  `json:"level"`
	What   string `json:"what"`
	Remedy string `json:"remedy,omitempty"`
	// Unreachable says that something outside did not answer, so that the check could not be
	// made.
	Unreachable bool `json:"unreachable,omitempty"`
}

// A Report has the findings in the order of the checks.
type Report struct {
	Version  string    `json:"version"`
	Findings []Finding `json:"findings"`
}

// Err returns the error for the exit code: nil when nothing failed, [cli.ErrFailed] when a
// check failed, and another error when something did not answer.
func (r Report) Err() error {
	if slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Unreachable }) {
		n := r.count(func(f Finding) bool { return f.Unreachable })
		return fmt.Errorf("%s could not be made: something did not answer, see the findings", phrase.Count(n, "check"))
	}
	if slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Level == Fail }) {
		return cli.ErrFailed
	}
	return nil
}

func (r Report) count(is func(Finding) bool) int {
	n := 0
	for _, f := range r.Findings {
		if is(f) {
			n++
		}
	}
	return n
}

// WriteJSON writes the report for programs.
func (r Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// WriteText writes the report for people.
func (r Report) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%-4s  %-12s  %s\n", f.Level, f.Check, f.What)
		if f.Remedy != "" {
			fmt.Fprintf(&b, "%20s-> %s\n", "", f.Remedy)
		}
	}
	level := func(l Level) int { return r.count(func(f Finding) bool { return f.Level == l }) }
	fmt.Fprintf(&b, "\n%d ok, %d to improve, %d to mend\n", level(OK), level(Warn), level(Fail))
	_, err := io.WriteString(w, b.String())
	return err
}

// maxText bounds what a finding says, in runes.
const maxText = 600

// harmless returns a text as one bounded line without control characters and secrets.
func harmless(text string, mask func(string) string) string {
	text = mask(sanitize.Line(text))
	if runes := []rune(text); len(runes) > maxText {
		text = string(runes[:maxText]) + "…"
	}
	return text
}

// maxNames bounds how many names a finding lists.
const maxNames = 5

// list returns some names for a sentence, and how many more there are.
func list(names []string) string {
	if n := len(names) - maxNames; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNames], ", "), n)
	}
	return strings.Join(names, ", ")
}
