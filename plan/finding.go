package plan

// A Finding is something that people must know about the data or about a live system, as a
// native integration reports it.
type Finding struct {
	Code     string   `json:"code,omitempty"` // a contract with programs, such as DUPLICATE
	Severity Severity `json:"severity"`
	File     string   `json:"file,omitempty"`    // path of a datafile or resource of head
	Pointer  string   `json:"pointer,omitempty"` // JSON pointer to the place in the file
	Message  string   `json:"message"`           // one line, masked
	// Old tells that base has the finding as well, so that the change did not cause it. It
	// does not fail the check.
	Old bool `json:"old,omitempty"`
}

// A Severity says how bad a finding is.
type Severity string

// The severities, the worst first. An error fails the task unless it is old.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityNote    Severity = "note"
)

// Severities returns all severities, the worst first.
func Severities() []Severity { return []Severity{SeverityError, SeverityWarning, SeverityNote} }

// Fails reports whether the finding fails its task.
func (f Finding) Fails() bool { return f.Severity == SeverityError && !f.Old }
