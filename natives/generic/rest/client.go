package rest

import (
	"context"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/operation"
)

// A Client reads and writes the resources of one API. It can be used by several goroutines at
// once.
type Client struct {
	Family    *family.Family
	Endpoint  *url.URL          // https, without query
	Transport http.RoundTripper // adds the credentials
	Throttle  *Throttle         // nil: no limit
	Clock     operation.Clock
	// Timeout is how long a run waits for one operation; 0 is two hours.
	Timeout time.Duration
	// Lag is how long a service may take to show what it took; 0 is [DefaultLag].
	Lag time.Duration
	// Attempts is how often a request is sent that may be repeated; 0 is 6.
	Attempts int
	// Patience bounds how long reads wait for a service that gives no answer, and MaxRead how long the
	// reads of this client take together, retries included; nil and 0 bound nothing.
	Patience *Patience
	MaxRead  time.Duration
	// MaxBody is the largest answer in bytes; 0 is 16 MiB.
	MaxBody int64
	// Classify decides what becomes of a failed request; the empty class, like nil, leaves it to
	// the general rules.
	Classify func(typeName string, status int, code, message, target string) Class
	// Random returns a number from 0 to below 1; nil is that of math/rand.
	Random func() float64
	// Trial says that each request which writes asks the server to check it and to keep nothing
	// (dryRun=All of Kubernetes). Nothing is waited for or read back.
	Trial bool
	// Mask replaces secrets in texts of the service; nil leaves them as they are.
	Mask func(string) string

	chains    chains
	readSince atomic.Pointer[time.Time]
}

// A Target is the resource that a request is about.
type Target struct {
	Address   family.Address
	Type      string    // with the version, for messages and overrides
	Abilities Abilities // what requests the type takes
	// Inline is the JSON pointers of lists in the body whose items are resources of their own.
	// An update that says nothing about such a list keeps what is there.
	Inline []string
}

// A Live is a resource as it was read.
type Live struct {
	Found bool
	Body  any
	ETag  string // of the header, else of the body; "" if there is none
}

// A Planner decides what a write changes. Its functions may be called several times.
type Planner interface {
	// Plan returns what leads from the resource as it is to what is desired, nil if that is
	// nothing. An error, such as that another owner has it, refuses the write.
	Plan(ctx context.Context, live Live) (*Change, error)
	// Left returns what is not as desired after a write, when the resource was read back.
	Left(ctx context.Context, live Live) ([]Difference, error)
	// Mutate returns the body to send in the place of that of a request that creates or updates.
	// It is called for each such request, right before it is sent.
	Mutate(ctx context.Context, s Sending) (any, error)
}

// A Sending is a request that is about to be sent.
type Sending struct {
	Method  string
	Path    string // with the query
	Media   string // the media type of the body
	Body    any
	Removed []string // JSON pointers of what the request is to remove
	Live    Live     // the resource as it was read last
}

// A Change is what a write is to do. For a resource that is not there, Desired is sent.
type Change struct {
	Paths   []string // JSON pointers of what changes, sorted; without any nothing is written
	Desired any      // the desired body with its secrets
	Merge   any      // the merge patch (RFC 7386) that leads there
	Put     any      // the whole body that leads there
	// Removed is the pointers among Paths that go or are cleared.
	Removed []string
	// Applied is the body that was applied last, nil if there was none. A server-side apply takes
	// a field from another manager only if all fields that it would take are in Applied.
	Applied any
	// IsPart says that Desired is not all that is ours: a server-side apply of it would take the
	// rest away.
	IsPart bool
}

// A Difference is a property that is not as it was sent.
type Difference struct {
	Path       string // JSON pointer; items of lists by their keys or value
	Pattern    string // the same with * for items; "" is the path
	Sent, Back any    // never shown
}

// A Memory stores what must outlive the process. Its functions return when it is stored.
type Memory interface {
	// Intend is called when the resource is not there, before the request that creates it.
	Intend(ctx context.Context) error
	// Began is called when an operation began, and when its address moved, before the next wait.
	Began(ctx context.Context, o operation.Operation) error
}

// A Note is something that people should know about a request that succeeded.
type Note struct {
	Code string // NO_LOCK, KEPT_CONTESTED
	Path string // JSON pointer, "" for the whole resource
	Text string
}

// A Result is what a write or delete did.
type Result struct {
	Did   Did
	Live  Live // as it was read back; nothing after a delete
	Notes []Note
	// Operation is the one that goes on, if the error is [ErrPending].
	Operation *operation.Operation
	// Path is where the resource is, if that is another place than its address said: a service
	// chose the name.
	Path string
}

// Did says what was done.
type Did string

// What can be done.
const (
	Nothing Did = "nothing"
	Created Did = "created"
	Updated Did = "updated"
	Deleted Did = "deleted"
)
