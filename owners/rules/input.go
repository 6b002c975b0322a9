package rules

import (
	"strings"
	"time"

	"github.com/app-sre/prcheck/owners/content"
)

// A ChangeType says which places of files may be changed by whom its contexts name.
type ChangeType struct {
	File          string // the datafile; "" if it has none
	Name          string
	Priority      string // "" is medium
	ContextType   content.Kind
	ContextSchema string // "" for every schema
	Disabled      bool
	Restrictive   bool
	IsLogged      bool     // the change log names it
	Inherit       []string // names
	Changes       []ChangeRule
	Implicit      []string // paths to the owners that a file names itself
}

// A ChangeRule is an item of the changes of a change type: places, or other change types.
type ChangeRule struct {
	Schema    string // of changed files; "" for the schema of the type
	Selectors []string
	Types     []string // names
	Context   *ContextRule
}

// A ContextRule says how a changed file leads to the file that a role binds.
type ContextRule struct {
	Selector string
	When     string // added, removed, or ""
	Where    string // backrefs, or ""
}

// A Person may approve.
type Person struct {
	Name     string
	IsTagged bool // wants to be named with @
	// KnownAt is when the source of a member, which is silent now, named the person last. It is zero for a person whom
	// base names, and for a member whom the source names now.
	KnownAt time.Time
}

// A MemberSource is a group whose members another system knows.
type MemberSource struct {
	File     string // the datafile of the system; "" if base does not have it
	Provider string // the name of the system
	Kind     string // of the system: app-interface
	URL      string // where it answers
	Group    string
}

// String returns the name of the group.
func (s MemberSource) String() string { return s.Group }

// A Role binds change types to files for its people.
type Role struct {
	File    string
	Name    string
	People  []Person
	HasBots bool // also bots without a name
	Sources []MemberSource
	Labels  []string // of change owners
	Reach   []string // where to reach its people
	Expires string   // the first day without it, as 2006-01-02; "" for never
	Binds   []Bind
}

// OwnerLabels reads the labels of change owners: names with commas between them.
func OwnerLabels(text string) []string {
	var out []string
	for label := range strings.SplitSeq(text, ",") {
		if label = strings.TrimSpace(label); label != "" {
			out = append(out, label)
		}
	}
	return out
}

// A Bind binds a change type to files; without files to all of the schema of the type.
type Bind struct {
	Type      string // name
	Datafiles []content.Ref
	Resources []string
}

// An Input is what the rules of one side are made of.
type Input struct {
	Types  []ChangeType
	Roles  []Role
	People map[string]Person // by the path of their files: users, and bots with a name
	Today  string            // as 2006-01-02
}

// A FaultKind says what is wrong with a rule.
type FaultKind string

// The kinds of faults.
const (
	BadTemplate    FaultKind = "template"
	BadVariable    FaultKind = "variable"
	BadSelector    FaultKind = "selector"
	BadReference   FaultKind = "reference"
	BadInheritance FaultKind = "inheritance"
	Circle         FaultKind = "circle"
	NoPeople       FaultKind = "no people"
	WrongSchema    FaultKind = "schema"
	BadDate        FaultKind = "date"
	BadWord        FaultKind = "word"
)

// A Fault is a rule that cannot be used.
type Fault struct {
	Kind    FaultKind
	File    string
	Pointer string // JSON pointer into the file
	Text    string
}

// Error returns the place and the text of a fault.
func (f Fault) Error() string { return f.File + f.Pointer + ": " + f.Text }
