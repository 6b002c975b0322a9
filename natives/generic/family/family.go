package family

import (
	"net/url"
	"strings"

	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// A Family is the habits of a group of APIs.
type Family struct {
	Name  string
	Types *resources.Habits

	// FoldsCase says that two ids that differ in case only name one resource.
	FoldsCase bool
	// TypesInPath says that a parameter in front of the name is the last part of the type.
	TypesInPath bool
	// Parent returns how many parts at the end of the address of a type are not those of its
	// parent. The parts of the template are given.
	Parent func(template []string) int
	// Within returns the parts in front of those of its own that an address has in a parent,
	// whose parts are given beside those of the template. Above is its inverse. They are nil
	// where the address of a resource begins with that of its parent.
	Within func(template, parent []string) []string
	Above  func(front []string) []string
	// Root returns the shard of a resource: what holds it and all that it may refer to.
	Root func(a Address) string
	// Chain returns the key of the outermost resource around a resource, itself if it stands
	// alone. Below one chain one write goes on at a time.
	Chain func(a Address) string
	// Query returns the query of each request about a type, nil for none.
	Query func(t *resources.Type) url.Values

	// Marks is the JSON pointer of the object in a body that holds marks of ownership, "" if
	// they can live in the state only. Integration and Caller are the names of the marks in
	// it, and MaxMark is how many bytes a mark can have.
	Marks               string
	Integration, Caller string
	MaxMark             int

	// Envelope returns what each body of a type says about itself, nil for nothing.
	Envelope func(t *resources.Type, a Address) map[string]any
	// Foreign is the names beside the marks with which other tools remember what they sent.
	Foreign []string
	// PutCreates says that PUT creates what is not there.
	PutCreates bool
	// LockAt is the JSON pointer of the text in a body that stands for its version. LocksInBody
	// says that it is sent in the body: without it, it is sent as If-Match.
	LockAt      string
	LocksInBody bool
	// NoVersion is a version that no resource ever has: a server-side apply with it creates what
	// is not there, and changes nothing that is.
	NoVersion string
	// HasOperations says that an answer may begin a long-running operation in the way of ARM.
	HasOperations bool
	// FieldManager is the name under which fields are applied, "" where the server cannot.
	FieldManager string
	// ItemsAt and NextAt are the names in the answer of a collection of its list and of the
	// address or token of the next page. NextQuery is the query parameter for a token, "" if
	// NextAt is an address.
	ItemsAt, NextAt, NextQuery string

	// Limits is how often one root may be asked. Without one there is no limit.
	Limits map[Kind]Limit
}

// A Kind is a kind of requests with a limit of its own.
type Kind string

// The kinds of requests.
const (
	Reads   Kind = "reads"
	Writes  Kind = "writes"
	Deletes Kind = "deletes"
)

// A Limit is a token bucket: it starts with Tokens, and PerSecond tokens are added each second
// up to that number.
type Limit struct {
	Tokens    int
	PerSecond float64
}

// all lists the families that data can name.
func all() []*Family { return []*Family{ARM, Kubernetes, Plain} }

// Of returns the family with a name, nil if there is none.
func Of(name string) *Family {
	for _, f := range all() {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Names returns the names of all families, for messages.
func Names() []string {
	var out []string
	for _, f := range all() {
		out = append(out, f.Name)
	}
	return out
}

// Key returns the canonical form of an id of the family.
func (f *Family) Key(id string) string {
	id = strings.TrimSuffix(id, "/")
	if f.FoldsCase {
		return strings.ToLower(id)
	}
	return id
}
