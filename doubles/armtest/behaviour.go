package armtest

import "time"

// A Behaviour says how the service treats the resources of one type. Paths are names joined by
// dots; "*" stands for each item of a list, or each member of an object.
type Behaviour struct {
	Required   []string          // what a new resource must have
	CreateOnly []string          // what cannot be changed later
	ReadOnly   []string          // what is ignored in requests
	WriteOnly  []string          // what is stored and never answered
	Ignored    []string          // what is taken when the resource is new, and ignored later
	Defaults   map[string]any    // the values of what is missing, by path
	Computed   map[string]string // what the service fills in, by path; {name} and {id} are those of the resource
	Spelling   map[string]func(any) any
	// Folded are the texts that are equal if only their case differs.
	Folded []string
	// Merges says that PUT keeps the members which it leaves out; without it, they are gone.
	Merges bool
	// Forgets says that PUT takes away what it leaves out also where the service never answers it.
	Forgets bool
	// Inline are the lists whose items are resources of their own: the path of the list, and the
	// last part of the items' type.
	Inline map[string]string
	// Joins are what stands at addresses below the resource and is read only, by the last part
	// of the address, such as instanceView.
	Joins map[string]any
	// Patch are the paths that PATCH takes; nil means all of them.
	Patch []string

	ETag ETag
	// Style is how the client follows an operation that takes time, and Takes how long it does.
	Style Style
	Takes time.Duration
	// RetryAfter is the Retry-After of an operation that goes on; 0 means that there is none.
	RetryAfter time.Duration
	// Moves says that each poll of an operation answers another address for the next one.
	Moves bool
	// FailedStays says that an operation that fails leaves the body as it was sent.
	FailedStays bool
	// Lag is how long a new resource is not found.
	Lag time.Duration
	// SoftDeletes says that the name of a deleted resource is reserved until it is purged.
	SoftDeletes bool
	// Alone says that only one operation at a time goes on below the parent of a resource.
	Alone bool
}

// ETag says where the service tells the version of a resource, and whether it locks by it.
type ETag int

// The places of versions.
const (
	NoETag     ETag = iota // there is none, and If-Match is ignored
	HeaderETag             // in the header ETag
	BodyETag               // in the member etag of the body
)

// Style says how a client follows an operation.
type Style int

// The styles of operations.
const (
	Immediate         Style = iota // operations are done when they are answered
	AsyncOperation                 // the header Azure-AsyncOperation names an address that tells the status
	Location                       // the header Location names an address that answers 202 until the end
	ProvisioningState              // the resource itself tells it in properties.provisioningState
)
