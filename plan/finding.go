package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// A Finding is something that people must know about the data or about a live system, as a
// native integration reports it.
type Finding struct {
	Code     FindingCode `json:"code,omitempty"`
	Severity Severity    `json:"severity"`
	Place
	Message string `json:"message"` // one line, masked
	// Old tells that base has the finding as well, so that the change did not cause it. It
	// does not fail the check.
	Old bool `json:"old,omitempty"`
}

// A FindingCode is the kind of a finding, a contract with programs, such as DUPLICATE.
type FindingCode string

// A Place is where something stands in the data. Path and line are filled in by what shows it to people.
type Place struct {
	File    string `json:"file,omitempty"`    // path of a datafile or resource of head, or of base if head removes it
	Pointer string `json:"pointer,omitempty"` // JSON pointer to the place in the file
	Path    string `json:"path,omitempty"`    // of the file from the root of the repository; "" if it is not known
	Line    int    `json:"line,omitempty"`    // in that file, from 1; 0 if it is not known
}

// A Severity says how bad a finding is.
type Severity string

// The severities, the worst first. An error fails the task unless it is old.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityNote    Severity = "note"
)

// The bounds of the findings of one result.
const (
	MaxFindings       = 200  // findings
	MaxFindingMessage = 300  // characters of a message
	MaxFindingPlace   = 1000 // bytes of a file, and of a pointer
)

// findingCode matches the codes of findings.
var findingCode = lazyregexp.New(`^[A-Z][A-Z0-9_]{0,39}$`)

// IsValid reports whether the text has the form of a code.
func (c FindingCode) IsValid() bool { return findingCode.MatchString(string(c)) }

// Severities returns all severities, the worst first.
func Severities() []Severity { return []Severity{SeverityError, SeverityWarning, SeverityNote} }

// IsValid reports whether the severity is one of [Severities].
func (s Severity) IsValid() bool { return slices.Contains(Severities(), s) }

// Fails reports whether the finding fails its task.
func (f Finding) Fails() bool { return f.Severity == SeverityError && !f.Old }

// Where returns the place as far as it is known: "data/a.yml:12", "/users/ana.yml#/roles/1" without
// lines, or "" without a file.
func (p Place) Where() string {
	switch {
	case p.Path != "":
		return fmt.Sprintf("%s:%d", p.Path, p.Line)
	case p.File == "" || p.Pointer == "":
		return p.File
	}
	return p.File + "#" + p.Pointer
}

// check returns an error for a finding that no runner writes.
func (f Finding) check() error {
	switch {
	case !f.Severity.IsValid():
		return fmt.Errorf("the severity is %q; it must be error, warning or note", f.Severity)
	case f.Code != "" && !f.Code.IsValid():
		return fmt.Errorf("the code %q must be at most 40 capital letters, digits and underscores", f.Code)
	case f.Message == "" || strings.ContainsAny(f.Message, "\r\n") ||
		utf8.RuneCountInString(f.Message) > MaxFindingMessage:
		return fmt.Errorf("the message must be one line of at most %d characters", MaxFindingMessage)
	case len(f.File) > MaxFindingPlace || len(f.Pointer) > MaxFindingPlace:
		return fmt.Errorf("the file and the pointer must have at most %d bytes each", MaxFindingPlace)
	case f.File != "" && !strings.HasPrefix(f.File, "/"), f.Pointer != "" && !strings.HasPrefix(f.Pointer, "/"):
		return fmt.Errorf("the file %q and the pointer %q must begin with a slash", f.File, f.Pointer)
	case f.Path != "" || f.Line != 0:
		return fmt.Errorf("it has the path %q and the line %d; results name places by file and pointer", f.Path, f.Line)
	case f.File == "" && f.Pointer != "":
		return fmt.Errorf("there is the pointer %q and no file", f.Pointer)
	}
	return nil
}

// checkFindings returns an error for findings that no runner writes.
func (r Result) checkFindings() error {
	switch n := len(r.Findings); {
	case n > MaxFindings:
		return fmt.Errorf("task %q: it has %d findings; at most %d are kept", r.Task, n, MaxFindings)
	case r.FindingsBeyond < 0:
		return fmt.Errorf("task %q: findings_beyond is negative", r.Task)
	case r.Status == Passed && slices.ContainsFunc(r.Findings, Finding.Fails):
		return fmt.Errorf("task %q: passed with a finding that fails it contradicts itself", r.Task)
	}
	for i, f := range r.Findings {
		if err := f.check(); err != nil {
			return fmt.Errorf("task %q: findings[%d]: %w", r.Task, i, err)
		}
	}
	return nil
}
