package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"

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

// A Location is a line of a file of the repository.
type Location struct {
	Path string // from the root of the repository, with slashes
	Line int    // from 1
}

// A Locator finds lines in the repository that a bundle was made from.
type Locator interface {
	// Locate returns the location of a part of the change. It returns the zero
	// Location if the part is not in the repository.
	Locate(Origin) Location
	// Concerns reports whether a part of the change is about a shard.
	Concerns(o Origin, shard string) bool
	// Find returns the location of a place in a datafile or resource of head. It returns the
	// zero Location if the place is not in the repository.
	Find(file, pointer string) Location
}

// Input is what is shown by [JUnit], [CodeQuality] and [Metrics].
type Input struct {
	Plan    *plan.Plan // the plan of the report
	Report  *Report
	Locator Locator // nil: failures are shown at line 1 of files in data, resources and schemas
}

// defaultLayout is the Locator for a repository that is not at hand.
type defaultLayout struct{}

// Locate returns line 1 of the file at its usual path.
func (defaultLayout) Locate(o Origin) Location {
	switch o.Section {
	case sectionData, sectionResources, sectionSchemas:
		return Location{path.Join(o.Section, o.Path), 1}
	}
	return Location{}
}

// Find returns line 1 of the file, as if it were a datafile.
func (defaultLayout) Find(file, _ string) Location {
	return Location{path.Join(sectionData, file), 1}
}

// Concerns returns false, since the text is not at hand.
func (defaultLayout) Concerns(Origin, string) bool { return false }

// fallbackLocation is where a failure is shown if no file explains it.
var fallbackLocation = Location{"prcheck.yaml", 1}

// Bounds of the places of one task.
const (
	maxPlaces  = 5    // places that are shown
	maxLocated = 25   // origins that are located
	maxPath    = 1000 // bytes of a path
)

// A place is an origin with its location.
type place struct {
	Origin
	Location
}

// A placeFinder finds the places of tasks. It keeps what it found, since many tasks
// share their origins.
type placeFinder struct {
	changeIndex
	locator   Locator
	origins   map[string][]Origin // by integration
	locations map[Origin]Location
	pathParts map[string]map[string]bool // by path: its elements, with and without file extension
}

// newPlaceFinder finds the origins of all integrations that run.
func (f Input) newPlaceFinder() *placeFinder {
	p := &placeFinder{newChangeIndex(f.Plan), f.Locator, map[string][]Origin{}, map[Origin]Location{},
		map[string]map[string]bool{}}
	if p.locator == nil {
		p.locator = defaultLayout{}
	}
	for _, d := range f.Plan.Integrations {
		if d.Decision != plan.Skip {
			p.origins[d.Name] = p.findOrigins(d)
		}
	}
	return p
}

// findPlaces returns the places that made a task run, without duplicate lines. For
// a shard, places that mention the shard are preferred: if there are any, the
// others are left out.
func (p *placeFinder) findPlaces(t TaskResult) []place {
	origins := p.origins[t.Integration]
	if t.Shard != "" {
		unrelated := func(o Origin) bool { return !p.isPathNamed(o.Path, t.Shard) && !p.locator.Concerns(o, t.Shard) }
		if related := slices.DeleteFunc(slices.Clone(origins), unrelated); len(related) > 0 {
			origins = related
		}
	}
	var out []place
	seen := map[Location]bool{}
	for _, o := range origins[:min(len(origins), maxLocated)] {
		at := p.locateOrigin(o)
		if at == (Location{}) || seen[at] {
			continue
		}
		seen[at] = true
		if out = append(out, place{o, at}); len(out) == maxPlaces {
			return out
		}
	}
	if len(out) == 0 {
		return []place{{Location: fallbackLocation}}
	}
	return out
}

// isPathNamed reports whether an element of a path is the name of a shard, with or
// without a file extension.
func (p *placeFinder) isPathNamed(name, shard string) bool {
	words, known := p.pathParts[name]
	if !known {
		words = map[string]bool{}
		for part := range strings.SplitSeq(name, "/") {
			words[part], words[strings.TrimSuffix(part, path.Ext(part))] = true, true
		}
		p.pathParts[name] = words
	}
	return words[shard]
}

// locateOrigin returns the location of an origin, or the zero Location if the
// Locator returns a path that leads out of the repository.
func (p *placeFinder) locateOrigin(o Origin) Location {
	at, known := p.locations[o]
	if known {
		return at
	}
	if staysInSection(o) {
		at = p.locator.Locate(o)
	}
	if !isShowablePath(at.Path) || at.Line < 1 {
		at = Location{}
	}
	p.locations[o] = at
	return at
}

// staysInSection reports whether the path of an origin stays in its section of the
// bundle. Paths are not trusted: the author of the change makes the bundle.
func staysInSection(o Origin) bool {
	return o.Section == sectionGraphQL || strings.HasPrefix(o.Path, "/") && isShowablePath(o.Path[1:])
}

// isShowablePath reports whether a path leads to a file of the repository and has
// only visible characters.
func isShowablePath(name string) bool {
	return fs.ValidPath(name) && name != "." && len(name) <= maxPath && !strings.ContainsFunc(name, func(r rune) bool {
		return r == '\\' || !unicode.IsPrint(r)
	})
}

// Terraform writes the numbers of effects as GitLab's Terraform report: one object with
// how much would be created, updated and deleted. These are the numbers of
// [AllEffects.Counts], so effects that are pending on base are not among them. The format
// has no place for effects of other kinds, nor for tasks whose effects are not known.
func Terraform(w io.Writer, f Input) error {
	c := f.Report.Effects.Counts
	return json.NewEncoder(w).Encode(struct {
		Create int `json:"create"`
		Update int `json:"update"`
		Delete int `json:"delete"`
	}{c.Create, c.Change, c.Delete})
}
