package hooks

import (
	"context"
)

// A Stage is a moment in the work on a resource at which hooks run.
type Stage string

// The stages, in the order in which they happen.
const (
	MutateDesired Stage = "MutateDesired" // after the data were read
	PostRead      Stage = "PostRead"      // after the resource was read from its service
	PreReconcile  Stage = "PreReconcile"  // before the resource is planned
	Compare       Stage = "Compare"       // while desired and live body are compared
	MutateRequest Stage = "MutateRequest" // before a request is sent that creates or updates
	ClassifyError Stage = "ClassifyError" // after a request failed
	PostReconcile Stage = "PostReconcile" // after the resource was brought in line
	PreDelete     Stage = "PreDelete"     // before the resource is deleted
	Import        Stage = "Import"        // before data are written about a resource that is there
)

// A Subject is what hooks are told. Bodies are JSON values with exact numbers (map[string]any,
// []any, json.Number, string, bool, nil); a body that is not there is nil.
type Subject struct {
	Type          string // with its version, such as Microsoft.KeyVault/vaults@2019-09-01
	ID            string // the path of the resource at its service
	Applied       any    // the body that was applied last
	Desired       any
	Live          any
	OnSoftDeleted string   // of the data: stop, recover or purge
	Named         []string // the hooks that the data name

	// Read reads a path of the endpoint of the resource. A status of 404 is no error. It is nil
	// where nothing can be read; a hook that needs it then lets the work proceed.
	Read func(ctx context.Context, path string) (Answer, error) `json:"-"`
}

// An Answer is the answer to a GET request.
type Answer struct {
	Status int
	Body   any
}

// A Request is a request that creates or updates a resource, or a call that a [Ready] asks for.
type Request struct {
	Method  string
	Path    string // with the query
	Media   string // the media type of the body, "" for application/json
	Body    any
	Cleared []string // JSON pointers of what the request is to remove
}

// A Decision says whether the work on a resource may go on.
type Decision int

// The decisions. A postponed resource is tried again in the next pass and is no failure; a
// blocked one fails until somebody decides.
const (
	Proceed Decision = iota
	Postpone
	Block
)

// A Ready says whether a resource may be worked on.
type Ready struct {
	Decision Decision
	Code     string // the code of the finding, such as SOFT_DELETED, "" for none
	Reason   string // why it does not proceed; a sentence with what to do
	// First is calls that are made in any case, but in a dry run: also for a resource that is
	// postponed.
	First []Request
	// Set is members of the creating request beside the desired body, by JSON pointer.
	Set map[string]any
}

// A Leave says that a property is left as it is live.
type Leave struct {
	At     string // JSON pointer
	Reason string
}

// A Failure is an answer that refuses a request.
type Failure struct {
	Status                int
	Code, Message, Target string
}

// A Class says what becomes of a failed request: retry, slow, fatal, reread or gone. The empty
// class leaves it to the general rules.
type Class string

// A Hook is about the types that a pattern matches. A function that is nil does nothing.
type Hook struct {
	Name string
	// Types is the names of types without version: * is any text without a slash, and /** at
	// the end is everything below. Case does not count.
	Types  string
	Text   string // what it does and why, a sentence
	ByName bool   // it runs only for resources whose data name it

	MutateDesired func(context.Context, Subject) (any, error)
	PostRead      func(context.Context, Subject) (any, error)
	PreReconcile  func(context.Context, Subject) (Ready, error)
	Compare       func(context.Context, Subject) ([]Leave, error)
	MutateRequest func(context.Context, Subject, Request) (Request, error)
	ClassifyError func(context.Context, Subject, Failure) (Class, error)
	PostReconcile func(context.Context, Subject) error
	PreDelete     func(context.Context, Subject) (Ready, error)
	Import        func(context.Context, Subject) (any, error)
}

// Stages returns the stages at which a hook does something, in their order.
func (h *Hook) Stages() []Stage {
	var out []Stage
	for _, s := range []struct {
		stage Stage
		has   bool
	}{
		{MutateDesired, h.MutateDesired != nil}, {PostRead, h.PostRead != nil}, {PreReconcile, h.PreReconcile != nil},
		{Compare, h.Compare != nil}, {MutateRequest, h.MutateRequest != nil}, {ClassifyError, h.ClassifyError != nil},
		{PostReconcile, h.PostReconcile != nil}, {PreDelete, h.PreDelete != nil}, {Import, h.Import != nil},
	} {
		if s.has {
			out = append(out, s.stage)
		}
	}
	return out
}
