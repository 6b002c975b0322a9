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

// MaxFindings is the largest number of findings that [CodeQuality] writes.
const MaxFindings = 1000

// A codeQualityIssue is one finding in the format that GitLab reads.
type codeQualityIssue struct {
	Description string        `json:"description"`
	CheckName   string        `json:"check_name"`
	Fingerprint string        `json:"fingerprint"`
	Severity    string        `json:"severity"`
	Location    issueLocation `json:"location"`
}

type issueLocation struct {
	Path  string `json:"path"`
	Lines struct {
		Begin int `json:"begin"`
	} `json:"lines"`
}

// severities are the severities that GitLab knows, the worst first.
var severities = []string{"blocker", "critical", "major", "minor", "info"}

// CodeQuality writes a Code Quality report for GitLab. It holds the tasks that
// failed or did not finish, each at the changed lines that made it run, at most
// five lines per task. The worst failures come first; when there are more than
// [MaxFindings], the rest is left out.
//
// The fingerprint of a finding is made of the task, the class of its failure and
// the changed field. So it stays the same when lines move or the message changes.
func CodeQuality(w io.Writer, f Findings) error {
	failed := f.Report.failedTasks()
	slices.SortStableFunc(failed, func(a, b Task) int { return cmp.Compare(severityRank(a), severityRank(b)) })
	failed = failed[:min(len(failed), MaxFindings)]
	places := f.newPlaceFinder()
	var rounds [maxPlaces][]codeQualityIssue // the first place of every task comes before the second of any
	for _, t := range failed {
		for i, at := range places.findPlaces(t) {
			rounds[i] = append(rounds[i], newIssue(t, at))
		}
	}
	issues := slices.Concat(rounds[:]...)
	issues = append([]codeQualityIssue{}, issues[:min(len(issues), MaxFindings)]...) // [], never null
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(issues)
}

// severityRank returns the severity of a failure as an index into severities. A
// task that did not run is "major": it leaves the change unchecked.
func severityRank(t Task) int {
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

func newIssue(t Task, at place) codeQualityIssue {
	text := cleanLine(t.Task) + ": " + describeFailure(t)
	if last := lastLine(t); last != "" {
		text += ": " + last
	}
	if at.Pointer != "" {
		text += " (changed: " + cleanLine(at.Pointer) + ")"
	}
	issue := codeQualityIssue{
		Description: text, CheckName: cleanLine(t.Integration), Severity: severities[severityRank(t)], Fingerprint: fingerprint(t, at),
	}
	issue.Location.Path, issue.Location.Lines.Begin = at.Location.Path, at.Line
	return issue
}

// fingerprint returns a digest of the task, the class of its failure and the
// changed field. The parts are quoted, so that two different lists of parts never
// give the same text.
func fingerprint(t Task, at place) string {
	parts := []string{t.Task, string(t.Class), at.Section, at.Origin.Path, at.Pointer}
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%q", parts)))
}
