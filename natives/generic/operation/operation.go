package operation

import (
	"context"
	"net/http"
	"time"
)

// A Clock tells the time and waits. The zero value is the real one.
type Clock struct {
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error // ends early with the cause of the context
}

// A Kind says what is asked about an operation.
type Kind string

// The kinds.
const (
	Status   Kind = "status"   // a document with the status of the operation
	Location Kind = "location" // the result: 202 until it is there
	Resource Kind = "resource" // the resource, whose provisioningState tells
)

// An Operation is a long-running operation that began. It is stored as JSON.
type Operation struct {
	Verb     string    `json:"verb"` // PUT, PATCH, POST or DELETE
	Resource string    `json:"resource"`
	Kind     Kind      `json:"kind"`
	Address  string    `json:"address"` // as the service gave it; of the kind resource it is Resource
	Began    time.Time `json:"began"`
	// Wait is how long to wait before the next question, in seconds.
	Wait int `json:"wait"`
	// FinalState is where the specification says that the result is. Of [AtLocation] the result is
	// waited for before the resource is read, which decides.
	FinalState string `json:"finalState,omitempty"`
	// Result is the address of the result that the service named beside a status document, ""
	// if it named none.
	Result string `json:"result,omitempty"`
}

// AtLocation is the final state of an operation whose result is at the Location.
const AtLocation = "location"

// An Answer is what a service answered to one request.
type Answer struct {
	Status int
	Header http.Header
	Body   any // decoded JSON with exact numbers, nil without a body
}

// An Outcome is how an operation ended.
type Outcome string

// The outcomes.
const (
	Succeeded Outcome = "succeeded"
	Failed    Outcome = "failed"
	Unknown   Outcome = "unknown" // the service forgot it: the resource decides
	Pending   Outcome = "pending" // it goes on, and is resumed in a later run
)

// An Ending is the outcome of an operation.
type Ending struct {
	Outcome Outcome
	Code    string // of a failure
	Message string // of a failure, as the service wrote it: untrusted
	Err     error  // why it is pending, if a question failed
}

// The codes of failures that the service does not name.
const (
	CodeFailed   = "LRO_FAILED"
	CodeHost     = "LRO_HOST"
	CodeCanceled = "Canceled"
)
