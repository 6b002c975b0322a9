package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/operation"
	"github.com/app-sre/prcheck/natives/generic/plain"
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
	// Plain is the habits of a type of the family plain, nil for others. Find finds the resource if the service gives its
	// id, nil if the address is known.
	Plain *plain.Habits
	Find  func(ctx context.Context) (Place, error)
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

// Read reads a resource. A resource that is not there is no error.
func (c *Client) Read(ctx context.Context, t Target) (Live, error) {
	live, err := c.locate(ctx, &t)
	switch {
	case err != nil:
		return Live{}, err
	case live != nil:
		return *live, nil
	}
	is, err := c.get(ctx, t, t.Address.URI())
	if t.Plain != nil {
		is.Body = t.Plain.Unwrap(is.Body)
	}
	return is, err
}

// Join reads a part of the status of a resource that is read for itself, such as instanceView.
func (c *Client) Join(ctx context.Context, t Target, part string) (Live, error) {
	path, query, hasQuery := strings.Cut(t.Address.URI(), "?")
	path += "/" + url.PathEscape(part)
	if hasQuery {
		path += "?" + query
	}
	return c.get(ctx, t, path)
}

func (c *Client) get(ctx context.Context, t Target, uri string) (Live, error) {
	a, err := c.send(ctx, c.question(t, c.path(uri)))
	var e *Error
	switch {
	case errors.As(err, &e) && e.Class == Gone:
		return Live{}, nil
	case err != nil:
		return Live{}, err
	}
	return c.live(a)
}

// question is a request that reads something of a resource.
func (c *Client) question(t Target, uri string) request {
	return request{method: http.MethodGet, uri: uri, root: t.Address.Root, about: t.Type}
}

// live returns the resource of an answer.
func (c *Client) live(a operation.Answer) (Live, error) {
	if _, ok := a.Body.(map[string]any); !ok {
		return Live{}, refusal(a.Status, "the answer is no JSON object")
	}
	return Live{Found: true, Body: a.Body, ETag: c.etag(a)}, nil
}

// etag returns the version of a resource: of the header, else of the body.
func (c *Client) etag(a operation.Answer) string {
	if tag := a.Header.Get("ETag"); tag != "" && !c.Family.LocksInBody {
		return tag
	}
	if c.Family.LockAt == "" {
		return ""
	}
	v, _ := body.Get(a.Body, c.Family.LockAt)
	tag, _ := v.(string)
	return tag
}

// maxPages is how many pages of a collection are read.
const maxPages = 1000

// List reads all items of a collection, page by page. The path has no query.
func (c *Client) List(ctx context.Context, t Target, path string) ([]any, error) {
	query := url.Values{}
	for name, values := range t.Address.Query {
		query[name] = values
	}
	uri := c.path(path)
	if len(query) > 0 {
		uri += "?" + query.Encode()
	}
	var out []any
	for range maxPages {
		a, err := c.send(ctx, c.question(t, uri))
		if err != nil {
			return nil, err
		}
		items, ok := member(a.Body, c.Family.ItemsAt).([]any)
		if list, isList := a.Body.([]any); isList && c.Family.ItemsAt == "" {
			items, ok = list, true
		}
		if !ok {
			return nil, refusal(a.Status, "the answer of the collection has no list %q", c.Family.ItemsAt)
		}
		out = append(out, items...)
		next, _ := member(a.Body, c.Family.NextAt).(string)
		switch {
		case next == "":
			return out, nil
		case c.Family.NextQuery != "":
			query.Set(c.Family.NextQuery, next)
			next = c.path(path) + "?" + query.Encode()
		}
		if next == uri {
			return nil, refusal(a.Status, "the next page of the collection is the same page")
		}
		uri = next
	}
	return nil, refusal(0, "the collection has more than %d pages", maxPages)
}

// member returns what stands at a path of names with slashes, nil if nothing does.
func member(v any, path string) any {
	if path == "" {
		return nil
	}
	out, _ := body.Get(v, "/"+path)
	return out
}

// decode reads JSON.
func decode(raw []byte) (any, error) {
	v, err := body.Parse(raw)
	if err != nil && isCut(raw) {
		return nil, errCut
	}
	return v, err
}

// follow waits for the operation that an answer begins, and reads the resource afterwards.
func (w *write) follow(ctx context.Context, verb string, a operation.Answer) error {
	resource := w.path(w.t.Address.URI())
	if !w.Family.HasOperations {
		var err error
		w.live, err = w.Read(ctx, w.t)
		return err
	}
	o, r := operation.Begin(verb, resource, w.Endpoint, a, w.Clock.Fill().Now())
	f := w.follower(w.t, w.m)
	if o == nil {
		o = &operation.Operation{Verb: verb, Resource: resource, Kind: operation.Resource, Address: resource,
			Began: w.Clock.Fill().Now()}
	} else {
		o.FinalState = w.t.Abilities.FinalState[lower(verb)]
		r = f.Follow(ctx, o)
	}
	var err error
	w.live, err = w.settle(ctx, f, o, r, w.t.Type)
	if errors.Is(err, ErrPending) {
		w.result.Operation = o
	}
	return err
}

// settle reads the resource after an operation, and returns what it is then.
func (c *Client) settle(ctx context.Context, f operation.Follower, o *operation.Operation, r operation.Ending,
	typeName string) (Live, error) {
	var a operation.Answer
	isDone := r.Outcome == operation.Succeeded && o.Verb != http.MethodDelete
	if r.Outcome == operation.Succeeded || r.Outcome == operation.Unknown {
		a, r = f.Finish(ctx, o)
	}
	isGone := a.Status == http.StatusNotFound || a.Status == http.StatusGone
	switch {
	case isDone && isGone && ctx.Err() == nil:
		return Live{}, nil // it is not seen everywhere yet
	case ctx.Err() != nil, r.Outcome == operation.Pending:
		return Live{}, pending(ctx, r.Err)
	case r.Outcome == operation.Failed:
		e := c.failed(r, typeName)
		c.reclassify(e, typeName)
		return Live{}, e
	case isGone:
		return Live{}, nil
	}
	return c.live(a)
}

// pending returns why an operation is not followed any longer.
func pending(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		return ErrPending
	}
	return fmt.Errorf("%w (%w)", ErrPending, err)
}

// follower returns what asks about operations on a resource.
func (c *Client) follower(t Target, m Memory) operation.Follower {
	return operation.Follower{Endpoint: c.Endpoint, Clock: c.Clock, Timeout: c.Timeout, Save: m.Began,
		Ask: func(ctx context.Context, u *url.URL) (operation.Answer, error) {
			a, err := c.once(ctx, c.question(t, u.RequestURI()))
			var e *Error
			if errors.As(err, &e) && e.Status >= 400 && !e.isForeign {
				return a, nil // the status tells
			}
			return a, err
		}}
}

// Resume goes on with an operation that an earlier process began, and verifies what it did. The
// planner is nil for a delete.
func (c *Client) Resume(ctx context.Context, t Target, o operation.Operation, p Planner, m Memory) (Result, error) {
	unlock, err := c.chains.lock(ctx, t.Address.Chain)
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	w := &write{Client: c, t: t, p: p, m: m, result: Result{Did: Updated}}
	if o.Verb == http.MethodDelete {
		w.result.Did = Deleted
	}
	f := c.follower(t, m)
	w.live, err = c.settle(ctx, f, &o, f.Follow(ctx, &o), t.Type)
	switch {
	case errors.Is(err, ErrPending):
		w.result.Operation = &o
		return w.result, err
	case err != nil || p == nil || o.Verb == http.MethodDelete:
		return w.result, err
	}
	if t.Plain != nil {
		w.live.Body = t.Plain.Unwrap(w.live.Body)
	}
	change, err := p.Plan(ctx, w.live)
	if w.trim(change); err != nil || change == nil {
		w.result.Live = w.live
		return w.result, err
	}
	return w.result, w.verify(ctx)
}

// An Action is a request that neither reads nor writes a resource by the rules of its type, such
// as one that purges a deleted resource.
type Action struct {
	Method string // not GET
	Path   string // below the endpoint, with the query
	Body   any    // JSON; nil for none
}

// Do carries out an action on behalf of a resource, below the limit of the resource's root, and
// waits until the operation ends that it begins. The memory is told of the action right before it
// is sent (Intend), and of its operation. An action that may have been carried out is not sent
// again: the error is of the class [Retry], and the caller looks at what is there. The error is
// [ErrPending] if the operation goes on when the time is over. A trial sends nothing.
func (c *Client) Do(ctx context.Context, t Target, act Action, m Memory) error {
	if !strings.HasPrefix(act.Path, "/") || act.Method == "" || act.Method == http.MethodGet {
		return refusal(0, "%.10q %.200q is no action", act.Method, act.Path)
	}
	if c.Trial {
		return nil
	}
	unlock, err := c.chains.lock(ctx, t.Address.Chain)
	if err != nil {
		return err
	}
	defer unlock()
	r := request{method: act.Method, uri: c.path(act.Path), media: mediaJSON, root: t.Address.Root, about: t.Type,
		isOnce: true}
	if act.Body != nil {
		if r.body, err = encode(act.Body); err != nil {
			return err
		}
	}
	if err := m.Intend(ctx); err != nil {
		return err
	}
	a, err := c.send(ctx, r)
	if err != nil || !c.Family.HasOperations {
		return err
	}
	o, result := operation.Begin(r.method, r.uri, c.Endpoint, a, c.Clock.Fill().Now())
	switch {
	case o == nil:
		return c.ended(ctx, t, result)
	case o.Kind == operation.Resource:
		return nil // it has no address of its own: what it changes tells
	}
	return c.ended(ctx, t, c.follower(t, m).Follow(ctx, o))
}

// ResumeAction waits until the operation ends that an action of an earlier process began. The
// errors are those of [Client.Do].
func (c *Client) ResumeAction(ctx context.Context, t Target, o operation.Operation, m Memory) error {
	unlock, err := c.chains.lock(ctx, t.Address.Chain)
	if err != nil {
		return err
	}
	defer unlock()
	return c.ended(ctx, t, c.follower(t, m).Follow(ctx, &o))
}

// ended returns the error of an operation that an action began.
func (c *Client) ended(ctx context.Context, t Target, result operation.Ending) error {
	switch result.Outcome {
	case operation.Succeeded:
		return nil
	case operation.Failed:
		e := c.failed(result, t.Type)
		c.reclassify(e, t.Type)
		return e
	case operation.Pending:
		return pending(ctx, result.Err)
	}
	return &Error{Class: Retry, Message: "the service does not tell how the operation ended; the next run looks"}
}
