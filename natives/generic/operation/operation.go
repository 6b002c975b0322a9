package operation

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/retry"
)

// A Follower asks about operations until they end.
type Follower struct {
	Endpoint *url.URL
	// Ask sends a GET request. An answer of any status is no error.
	Ask func(ctx context.Context, address *url.URL) (Answer, error)
	// Save stores an operation, so that a later process can resume it.
	Save  func(context.Context, Operation) error
	Clock Clock
	// Timeout is how long one run waits; 0 is two hours.
	Timeout time.Duration
}

const (
	defaultTimeout = 2 * time.Hour
	// forgiven is how many answers in a row may be no answer to the question.
	forgiven = 3
	// maxRounds is how often a resource may say that it is done, and then that it is not.
	maxRounds = 4
)

// Fill returns the clock with the real one for what is not set.
func (c Clock) Fill() Clock {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Sleep == nil {
		c.Sleep = retry.Sleep
	}
	return c
}

// Follow asks about an operation until it ends, or until the time is over. It changes the
// operation as the service moves it. When it succeeded or is unknown, [Follower.Finish] says
// what became of the resource.
func (f Follower) Follow(ctx context.Context, o *Operation) Ending {
	clock := f.Clock.Fill()
	timeout := f.Timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	end := clock.Now().Add(timeout)
	troubles := 0
	if err := f.Save(ctx, *o); err != nil {
		return pending(fmt.Errorf("storing the operation: %w", err))
	}
	for {
		wait := min(max(time.Duration(o.Wait)*time.Second, minWait), maxWait)
		if clock.Now().Add(wait).After(end) {
			return pending(nil)
		}
		if err := clock.Sleep(ctx, wait); err != nil {
			return pending(err)
		}
		before := *o
		r, trouble := f.poll(ctx, o)
		switch {
		case r.Outcome != "":
			return r
		case trouble == nil:
			troubles = 0
		default:
			if troubles++; troubles > forgiven {
				return o.giveUp(trouble)
			}
		}
		if o.Address != before.Address {
			if err := f.Save(ctx, *o); err != nil {
				return pending(fmt.Errorf("storing the operation: %w", err))
			}
		}
	}
}

func pending(err error) Ending { return Ending{Outcome: Pending, Err: err} }

// errMissing says that a resource is not there that an operation is to make.
var errMissing = errors.New("the resource is not there")

// giveUp ends following after too many answers that say nothing.
func (o *Operation) giveUp(trouble error) Ending {
	if errors.Is(trouble, errMissing) {
		return Ending{Outcome: Unknown}
	}
	return pending(trouble)
}

// poll asks once. Without an outcome the operation goes on; then the error says why the answer
// was none.
func (f Follower) poll(ctx context.Context, o *Operation) (r Ending, trouble error) {
	address, err := Resolve(f.Endpoint, o.Address)
	if err != nil {
		return Ending{Outcome: Failed, Code: CodeHost, Message: err.Error()}, nil
	}
	o.Wait = int(defaultWait / time.Second)
	a, err := f.Ask(ctx, address)
	switch {
	case ctx.Err() != nil:
		return pending(context.Cause(ctx)), nil
	case err != nil:
		return Ending{}, err
	}
	o.Wait = seconds(a.Header, f.Clock.Fill().Now())
	switch {
	case a.Status == http.StatusTooManyRequests:
		return Ending{}, nil
	case a.Status == http.StatusRequestTimeout, a.Status >= 500:
		return Ending{}, fmt.Errorf("asking about the operation: status %d", a.Status)
	case isGone(a):
		return o.missing()
	case a.Status == http.StatusUnauthorized, a.Status == http.StatusForbidden, a.Status >= 300 && a.Status < 400,
		a.Status < 200:
		return pending(fmt.Errorf("asking about the operation: status %d", a.Status)), nil
	case a.Status >= 400 && o.Kind == Location:
		return failure("failed", a.Body), nil
	case a.Status >= 400:
		return Ending{Outcome: Unknown}, nil
	}
	return f.read(o, a), nil
}

// missing reads a 404: a deleted resource is gone, a forgotten operation leaves the answer to
// the resource, and a resource that is new may not be there yet.
func (o *Operation) missing() (Ending, error) {
	switch {
	case o.Kind != Resource:
		return Ending{Outcome: Unknown}, nil
	case o.Verb == http.MethodDelete:
		return Ending{Outcome: Succeeded}, nil
	}
	return Ending{}, errMissing
}

// read reads an answer of 2xx. Without an outcome the operation goes on.
func (f Follower) read(o *Operation, a Answer) Ending {
	switch o.Kind {
	case Location:
		if a.Status != http.StatusAccepted {
			return Ending{Outcome: Succeeded}
		}
	case Resource:
		r, goesOn := Decide(o.Verb, a)
		if !goesOn && a.Status != http.StatusAccepted {
			return r
		}
		return Ending{}
	default:
		object, _ := a.Body.(map[string]any)
		outcome := outcomeOf
		if inner, isAction := object["action"].(map[string]any); isAction { // of a plain API
			object, outcome = inner, outcomeOfAction
		}
		state, _ := object["status"].(string)
		if strings.HasPrefix(strings.ToLower(state), "error") {
			state = "failed"
		}
		switch {
		case outcome(state) == Succeeded:
			return Ending{Outcome: Succeeded}
		case outcome(state) == Failed:
			return failure(state, object)
		case state == "" && a.Status != http.StatusAccepted:
			return Ending{Outcome: Unknown}
		}
	}
	return o.move(f.Endpoint, a.Header)
}

func isGone(a Answer) bool { return a.Status == http.StatusNotFound || a.Status == http.StatusGone }

// Decide reads from a resource itself how an operation ended. It returns true if it goes on.
func Decide(verb string, a Answer) (r Ending, goesOn bool) {
	state := provisioningState(a.Body)
	switch {
	case isGone(a) && verb == http.MethodDelete:
		return Ending{Outcome: Succeeded}, false
	case isGone(a):
		return Ending{Outcome: Failed, Code: CodeFailed, Message: "the resource is not there after the operation"}, false
	case outcomeOf(state) == Failed:
		return failure(state, a.Body), false
	case verb == http.MethodDelete, state != "" && outcomeOf(state) == "":
		return Ending{}, true
	}
	return Ending{Outcome: Succeeded}, false
}

// resource reads a resource. One that is not there may not be seen everywhere yet, and a service
// that is busy may answer in a moment.
func (f Follower) resource(ctx context.Context, address *url.URL, verb string) (a Answer, err error) {
	clock := f.Clock.Fill()
	for i := range 1 + forgiven {
		a, err = f.Ask(ctx, address)
		wait := time.Duration(seconds(a.Header, clock.Now())) * time.Second
		switch {
		case ctx.Err() != nil, i == forgiven:
			return a, err
		case err != nil, a.Status == http.StatusTooManyRequests, a.Status == http.StatusRequestTimeout, a.Status >= 500:
		case isGone(a) && verb != http.MethodDelete:
			wait = minWait << i
		default:
			return a, nil
		}
		if err := clock.Sleep(ctx, wait); err != nil {
			return a, err
		}
	}
	return a, err
}

// Finish reads the resource after an operation succeeded or was forgotten, and returns what it
// is now. While the resource says that it is still worked on, it is asked again. A result that is
// declared to be elsewhere is waited for first; what it says counts if the resource agrees.
func (f Follower) Finish(ctx context.Context, o *Operation) (Answer, Ending) {
	told := f.result(ctx, o)
	if told.Outcome == Pending {
		return Answer{}, told
	}
	a, r := f.finish(ctx, o)
	if told.Outcome == Failed && r.Outcome == Failed && r.Message == "" {
		r.Code, r.Message = told.Code, told.Message
	}
	return a, r
}

// result waits for the result of an operation where the specification says that it is at the
// Location, and the status document ended before it. One that cannot be read says nothing.
func (f Follower) result(ctx context.Context, o *Operation) Ending {
	if o.FinalState != AtLocation || o.Kind != Status || o.Result == "" || o.Result == o.Resource {
		return Ending{}
	}
	o.Kind, o.Address, o.Result, o.Wait = Location, o.Result, "", int(minWait/time.Second)
	r := f.Follow(ctx, o)
	if r.Outcome == Pending && r.Err != nil && ctx.Err() == nil {
		return Ending{}
	}
	return r
}

func (f Follower) finish(ctx context.Context, o *Operation) (Answer, Ending) {
	address, err := Resolve(f.Endpoint, o.Resource)
	if err != nil {
		return Answer{}, Ending{Outcome: Failed, Code: CodeHost, Message: err.Error()}
	}
	for range maxRounds {
		a, err := f.resource(ctx, address, o.Verb)
		switch {
		case err != nil:
			return a, pending(err)
		case a.Status >= 300 && !isGone(a):
			return a, pending(fmt.Errorf("reading the resource after the operation: status %d", a.Status))
		}
		r, goesOn := Decide(o.Verb, a)
		if !goesOn {
			return a, r
		}
		o.Kind, o.Address, o.Wait = Resource, o.Resource, seconds(a.Header, f.Clock.Fill().Now())
		if r := f.Follow(ctx, o); r.Outcome != Succeeded && r.Outcome != Unknown {
			return a, r
		}
	}
	return Answer{}, pending(errors.New("the resource changes its state again and again"))
}

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
