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
// five lines per task, and the findings of natives that base does not have, each at
// its own line. The worst failures come first, warnings and notes last; when there are
// more than [MaxFindings], the rest is left out.
//
// The fingerprint of a failure is made of the task, the class of its failure and
// the changed field. So it stays the same when lines move or the message changes. The
// fingerprint of a finding is made of its code, place and message.
func CodeQuality(w io.Writer, f Input) error {
	failed := f.Report.failedTasks()
	slices.SortStableFunc(failed, func(a, b TaskResult) int { return cmp.Compare(severityRank(a), severityRank(b)) })
	failed = failed[:min(len(failed), MaxFindings)]
	places := f.newPlaceFinder()
	var rounds [maxPlaces][]codeQualityIssue // the first place of every task comes before the second of any
	for _, t := range failed {
		for i, at := range places.findPlaces(t) {
			if i > 0 && slices.ContainsFunc(t.Findings, plan.Finding.Fails) {
				break // the findings have places of their own
			}
			rounds[i] = append(rounds[i], newIssue(t, at))
		}
	}
	findings := f.newFindingIssues(places)
	issues := slices.Concat(rounds[0], findings[plan.SeverityError], slices.Concat(rounds[1:]...),
		findings[plan.SeverityWarning], findings[plan.SeverityNote])
	issues = append([]codeQualityIssue{}, issues[:min(len(issues), MaxFindings)]...) // [], never null
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(issues)
}

// severityRank returns the severity of a failure as an index into severities. A
// task that did not run is "major": it leaves the change unchecked.
func severityRank(t TaskResult) int {
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

// newFindingIssues returns the issues of the findings that base does not have, by severity.
// Equal findings of several tasks of an integration are one issue.
func (f Input) newFindingIssues(places *placeFinder) map[plan.Severity][]codeQualityIssue {
	lines := findingLocator{places.locator, map[Origin]Location{}}
	out, known := map[plan.Severity][]codeQualityIssue{}, map[string]bool{}
	for _, t := range f.Report.Results {
		shown, _ := t.ShownFindings(len(t.Findings))
		for _, found := range shown {
			print := digestOf("finding", t.Integration, string(found.Code), found.File, found.Pointer, found.Message)
			if known[print] || len(out[found.Severity]) >= MaxFindings {
				continue
			}
			known[print] = true
			at := lines.locate(found)
			if at == (Location{}) {
				at = places.findPlaces(t)[0].Location
			}
			out[found.Severity] = append(out[found.Severity], newFindingIssue(t, found, at, print))
		}
	}
	return out
}

// findingSeverities are the severities of findings as indices into severities. A finding that
// fails its task is as bad as a failure because of the data.
var findingSeverities = map[plan.Severity]int{plan.SeverityError: 0, plan.SeverityWarning: 3, plan.SeverityNote: 4}

// newFindingIssue returns the issue of a finding.
func newFindingIssue(t TaskResult, f plan.Finding, at Location, print string) codeQualityIssue {
	text := cleanLine(f.Message)
	if f.Code != "" {
		text = cleanLine(string(f.Code)) + ": " + text
	}
	issue := codeQualityIssue{
		Description: cleanLine(t.Integration) + ": " + text, CheckName: cleanLine(t.Integration),
		Severity: severities[findingSeverities[f.Severity]], Fingerprint: print,
	}
	issue.Location.Path, issue.Location.Lines.Begin = at.Path, at.Line
	return issue
}

func newIssue(t TaskResult, at place) codeQualityIssue {
	text := cleanLine(t.Task) + ": " + describeFailure(t)
	if last := lastLine(t); last != "" {
		text += ": " + last
	}
	if at.Pointer != "" {
		text += " (changed: " + cleanLine(at.Pointer) + ")"
	}
	issue := codeQualityIssue{
		Description: text, CheckName: cleanLine(t.Integration), Severity: severities[severityRank(t)],
		Fingerprint: fingerprint(t, at),
	}
	issue.Location.Path, issue.Location.Lines.Begin = at.Location.Path, at.Line
	return issue
}

// fingerprint returns a digest of the task, the class of its failure and the
// changed field.
func fingerprint(t TaskResult, at place) string {
	return digestOf(t.Task, string(t.Class), at.Section, at.Origin.Path, at.Pointer)
}

// digestOf returns a digest of some texts. The texts are quoted, so that two different lists
// never give the same digest.
func digestOf(parts ...string) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%q", parts)))
}
