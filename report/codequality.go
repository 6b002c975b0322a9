package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/app-sre/prcheck/plan"
)

// MaxFindings is how many findings [CodeQuality] writes.
const MaxFindings = 1000

// A codeQuality is one finding, as GitLab reads it.
type codeQuality struct {
	Description string    `json:"description"`
	CheckName   string    `json:"check_name"`
	Fingerprint string    `json:"fingerprint"`
	Severity    string    `json:"severity"`
	Location    lineRange `json:"location"`
}

type lineRange struct {
	Path  string `json:"path"`
	Lines struct {
		Begin int `json:"begin"`
	} `json:"lines"`
}

// severities are GitLab's words, the worst first.
var severities = []string{"blocker", "critical", "major", "minor", "info"}

// CodeQuality writes the tasks that failed or gave no answer as a Code Quality report of
// GitLab: each at the lines whose change made it run, at most five. The worst
// come first, and those are kept when there are more than [MaxFindings].
//
// A fingerprint tells the task, its class and the changed field; it stays the
// same when lines move or the message changes.
func CodeQuality(w io.Writer, f Findings) error {
	bad := f.Report.failures()
	slices.SortStableFunc(bad, func(a, b Task) int { return cmp.Compare(severity(a), severity(b)) })
	bad = bad[:min(len(bad), MaxFindings)]
	places := f.placing()
	var rounds [maxPlaces][]codeQuality // the first line of every task comes before the second of any
	for _, t := range bad {
		for i, at := range places.of(t) {
			rounds[i] = append(rounds[i], finding(t, at))
		}
	}
	out := slices.Concat(rounds[:]...)
	out = append([]codeQuality{}, out[:min(len(out), MaxFindings)]...)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

// severity returns how bad a failure is, as a place in severities. What did not
// run leaves the change unchecked, whoever is to blame.
func severity(t Task) int {
	switch t.Class {
	case plan.ClassConfig:
		return 0
	case plan.ClassTask:
		return 1
	case plan.ClassTransient, plan.ClassEnvironment:
		return 3
	case plan.ClassBaseline:
		return 4
	}
	return 2
}

func finding(t Task, at place) codeQuality {
	what := line(t.Task) + ": " + blame(t)
	if last := lastLine(t); last != "" {
		what += ": " + last
	}
	if at.Pointer != "" {
		what += " (changed: " + line(at.Pointer) + ")"
	}
	q := codeQuality{Description: what, CheckName: line(t.Integration), Severity: severities[severity(t)], Fingerprint: fingerprint(t, at)}
	q.Location.Path, q.Location.Lines.Begin = at.Location.Path, at.Line
	return q
}

// blame returns what a task said, and whose fault it is not.
func blame(t Task) string {
	if look(t) == unavailable {
		return "nothing against this change, " + result(t)
	}
	switch t.Class {
	case plan.ClassBaseline:
		return "already broken on base, " + result(t)
	case plan.ClassEnvironment:
		return "not because of this change, " + result(t)
	case plan.ClassTransient:
		return "perhaps not because of this change, " + result(t)
	}
	return result(t)
}

// fingerprint names a failure by task, class and changed field.
func fingerprint(t Task, at place) string {
	parts := []string{t.Task, string(t.Class), at.Section, at.Origin.Path, at.Pointer}
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%q", parts))) // quoted, so that no part can pretend to be two
}
