package operation

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/retry"
)

// The headers that begin an operation, and the bounds of a wait.
const (
	statusHeader   = "Azure-AsyncOperation"
	locationHeader = "Location"

	defaultWait = 10 * time.Second
	minWait     = time.Second
	maxWait     = 10 * time.Minute
)

// Begin reads the answer to a request that changes something, which must be 2xx. It returns
// the operation that began, or nil and how the request ended. The resource is the path with
// the query that reads it.
func Begin(verb, resource string, endpoint *url.URL, first Answer, now time.Time) (*Operation, Ending) {
	state := provisioningState(first.Body)
	isRunning := first.Status == http.StatusAccepted || first.Status == http.StatusCreated && state == "" &&
		header(first) != "" ||
		state != "" && outcomeOf(state) == ""
	switch {
	case !isRunning && state == "", !isRunning && outcomeOf(state) == Succeeded:
		return beginDeclared(verb, resource, endpoint, first, now)
	case !isRunning:
		return nil, failure(state, first.Body)
	}
	return begin(verb, resource, endpoint, first, now)
}

// begin returns the operation that an answer names: the resource itself is asked if it names
// none.
func begin(verb, resource string, endpoint *url.URL, first Answer, now time.Time) (*Operation, Ending) {
	o := &Operation{Verb: verb, Resource: resource, Began: now.UTC(), Wait: seconds(first.Header, now)}
	if r := o.move(endpoint, first.Header); r.Outcome != "" {
		return nil, r
	}
	if o.Kind == "" {
		o.Kind, o.Address = Resource, resource
	}
	return o, Ending{}
}

// beginDeclared reads an answer whose body says that all is done, or nothing. If it names a status
// document, that is asked all the same.
func beginDeclared(verb, resource string, endpoint *url.URL, first Answer, now time.Time) (*Operation, Ending) {
	if first.Header.Get(statusHeader) == "" {
		return nil, Ending{Outcome: Succeeded}
	}
	return begin(verb, resource, endpoint, first, now)
}

// header returns the address that an answer names, "" if it names none.
func header(a Answer) string {
	if text := a.Header.Get(statusHeader); text != "" {
		return text
	}
	return a.Header.Get(locationHeader)
}

// move sets the kind and the address of an operation to those that the headers of an answer
// name, if they name any. A document with the status names a Location only for the result, so one
// that is not of the endpoint is left alone.
func (o *Operation) move(endpoint *url.URL, h http.Header) Ending {
	kind, address := Status, h.Get(statusHeader)
	if location := h.Get(locationHeader); address == "" && o.Kind != Status {
		kind, address = Location, location
	} else if _, err := Resolve(endpoint, location); location != "" && err == nil {
		o.Result = location
	}
	if address == "" {
		return Ending{}
	}
	if _, err := Resolve(endpoint, address); err != nil {
		return Ending{Outcome: Failed, Code: CodeHost, Message: err.Error()}
	}
	o.Kind, o.Address = kind, address
	return Ending{}
}

const maxAddress = 8 << 10 // bytes

// errHost says that an address would send credentials to somebody else.
var errHost = errors.New("the address is not of the host of the endpoint; no credentials are sent there")

// Resolve returns the whole address of an operation or a resource. It is an error if the
// address is not one of the endpoint.
func Resolve(endpoint *url.URL, address string) (*url.URL, error) {
	if len(address) > maxAddress || strings.ContainsAny(address, "\\\t\r\n") {
		return nil, errHost
	}
	relative, err := url.Parse(address)
	if err != nil || relative.Opaque != "" {
		return nil, errHost
	}
	u := endpoint.ResolveReference(relative)
	u.Fragment, u.RawFragment = "", ""
	if u.Scheme != endpoint.Scheme || !strings.EqualFold(u.Hostname(), endpoint.Hostname()) || port(u) != port(endpoint) ||
		u.User != nil {
		return nil, errHost
	}
	u.Host = endpoint.Host
	return u, nil
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return map[string]string{"https": "443", "http": "80"}[u.Scheme]
}

// seconds returns how long to wait before the next question.
func seconds(h http.Header, now time.Time) int {
	wait, ok := retry.After(h, now)
	if !ok {
		wait = defaultWait
	}
	wait = min(max(wait, minWait), maxWait)
	return int((wait + time.Second - 1) / time.Second)
}

// outcomeOf returns how an operation with a state ended, "" if it goes on.
func outcomeOf(state string) Outcome {
	switch strings.ToLower(strings.TrimSpace(state)) {
	case "succeeded":
		return Succeeded
	case "failed", "canceled", "cancelled":
		return Failed
	}
	return ""
}

// outcomeOfAction reads the state of an action of a plain API.
func outcomeOfAction(state string) Outcome {
	switch strings.ToLower(strings.TrimSpace(state)) {
	case "success", "completed", "complete", "done":
		return Succeeded
	}
	return outcomeOf(state)
}

// IsFailed reports whether a resource says that its last operation failed or was canceled, in the words of the service.
func IsFailed(body any) (state string, isFailed bool) {
	state = provisioningState(body)
	return state, outcomeOf(state) == Failed
}

// IsGoingOn reports whether a resource says that an operation goes on. A state that nobody knows is none of these.
func IsGoingOn(body any) bool {
	state := strings.ToLower(strings.TrimSpace(provisioningState(body)))
	return strings.HasSuffix(state, "ing") || slices.Contains([]string{"accepted", "inprogress"}, state)
}

// SaysState reports whether a resource says how its last operation ended.
func SaysState(body any) bool { return provisioningState(body) != "" }

// provisioningState returns the state in a resource, "" if it has none.
func provisioningState(body any) string {
	object, _ := body.(map[string]any)
	properties, _ := object["properties"].(map[string]any)
	if state, ok := properties["provisioningState"].(string); ok {
		return state
	}
	state, _ := object["provisioningState"].(string)
	return state
}

// failure returns the result of a state that says that an operation failed.
func failure(state string, body any) Ending {
	r := Ending{Outcome: Failed, Code: CodeFailed}
	if !strings.EqualFold(strings.TrimSpace(state), "failed") {
		r.Code = CodeCanceled
	}
	object, _ := body.(map[string]any)
	problem, _ := object["error"].(map[string]any)
	if properties, ok := object["properties"].(map[string]any); ok && problem == nil {
		problem, _ = properties["error"].(map[string]any)
	}
	if code, ok := problem["code"].(string); ok && code != "" {
		r.Code = code
	}
	r.Message, _ = problem["message"].(string)
	return r
}
