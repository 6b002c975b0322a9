package armtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// provider is the provider of the addresses that tell how operations go.
const provider = "Example.Operations"

// An Operation is what the service is doing, or has done, with one resource.
type Operation struct {
	ID      string // of the resource
	Verb    string // POST when the resource is new, PUT or DELETE
	Started time.Time
	Ends    time.Time
	Status  string // InProgress, Succeeded or Failed
}

type operation struct {
	Operation
	name     string
	endpoint string
	polls    int // how often its address has moved
	fails    bool
	purges   bool // the object is deleted already
	object   *object
	before   map[string]any // the body to return to if it fails
}

// Operations returns all operations that took time, in the order of their names.
func (s *Server) Operations() []Operation {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	var out []Operation
	for _, op := range s.operations {
		out = append(out, op.Operation)
	}
	slices.SortFunc(out, func(a, b Operation) int { return a.Started.Compare(b.Started) })
	return out
}

// start begins what changes an object, and answers.
func (s *Server) start(c *call, o *object, verb string, before map[string]any) {
	b := s.behaviours[o.kind]
	status := http.StatusOK
	if verb == http.MethodPost {
		status = http.StatusCreated
	}
	if verb != http.MethodDelete {
		s.replaceInline(o)
		s.touch(o)
	}
	if b.Style == Immediate || b.Takes == 0 {
		if verb == http.MethodDelete {
			s.drop(key(o.id))
			c.send(http.StatusOK, nil)
			return
		}
		s.sendObject(c, status, o)
		return
	}
	op := s.begins(c, o, verb, before)
	if b.RetryAfter > 0 {
		c.answer.Header().Set("Retry-After", seconds(b.RetryAfter))
	}
	switch b.Style {
	case AsyncOperation:
		c.answer.Header().Set("Azure-AsyncOperation", op.address("operationStatuses"))
	case Location:
		c.answer.Header().Set("Location", op.address("operationResults"))
		c.send(http.StatusAccepted, nil)
		return
	}
	if verb == http.MethodDelete {
		c.send(http.StatusAccepted, nil)
		return
	}
	s.sendObject(c, status, o)
}

// states are what a resource tells while an operation goes on, by its verb.
var states = map[string]string{
	http.MethodPost: "Creating", http.MethodPut: "Updating", http.MethodDelete: "Deleting",
}

// begins notes an operation that takes time.
func (s *Server) begins(c *call, o *object, verb string, before map[string]any) *operation {
	b := s.behaviours[o.kind]
	s.started++
	now := s.Now()
	op := &operation{name: fmt.Sprintf("op%d", s.started), endpoint: c.endpoint, object: o, before: before,
		Operation: Operation{ID: o.id, Verb: verb, Started: now, Ends: now.Add(b.Takes), Status: "InProgress"}}
	if s.failures[key(o.id)] > 0 {
		s.failures[key(o.id)]--
		op.fails = true
	}
	s.operations[op.name] = op
	o.running = op
	o.state = states[verb]
	return op
}

// settle ends the operations whose time is over.
func (s *Server) settle() {
	now := s.Now()
	for _, op := range s.operations {
		if op.Status != "InProgress" || now.Before(op.Ends) {
			continue
		}
		o := op.object
		o.running = nil
		if op.fails {
			op.Status, o.state = "Failed", "Failed"
			if op.before != nil && !s.behaviours[o.kind].FailedStays {
				o.body = op.before
			}
			s.touch(o)
			continue
		}
		op.Status, o.state = "Succeeded", "Succeeded"
		switch {
		case op.purges:
			delete(s.deleted, key(o.id))
		case op.Verb == http.MethodDelete:
			s.drop(key(o.id))
		}
	}
}

// address returns where an operation tells how it goes.
func (op *operation) address(what string) string {
	scope := ""
	parts := strings.Split(strings.Trim(op.ID, "/"), "/")
	if strings.EqualFold(parts[0], "subscriptions") && len(parts) > 1 {
		scope = "/subscriptions/" + parts[1]
	}
	path := fmt.Sprintf("%s/providers/%s/%s/%s-%d", scope, provider, what, op.name, op.polls)
	return op.endpoint + path + "?api-version=2020-01-01"
}

// servesOperation answers requests about operations.
func (s *Server) servesOperation(c *call) bool {
	n := len(c.parts)
	if n < 4 || !strings.EqualFold(c.parts[n-3], provider) || c.r.Method != http.MethodGet {
		return false
	}
	name, poll, _ := strings.Cut(c.parts[n-1], "-")
	op := s.operations[name]
	if op == nil || poll != fmt.Sprint(op.polls) {
		c.refuse(http.StatusNotFound, "OperationNotFound", "", "there is no such operation at this address")
		return true
	}
	b := s.behaviours[op.object.kind]
	if op.Status == "InProgress" && b.RetryAfter > 0 {
		c.answer.Header().Set("Retry-After", seconds(b.RetryAfter))
	}
	if op.Status == "InProgress" && b.Moves {
		op.polls++
	}
	if c.parts[n-2] == "operationResults" {
		s.sendResult(c, op)
		return true
	}
	if b.Moves {
		c.answer.Header().Set("Azure-AsyncOperation", op.address("operationStatuses"))
	}
	body := map[string]any{"id": c.id(), "name": op.name, "status": op.Status}
	body["startTime"] = op.Started.UTC().Format(time.RFC3339)
	if op.Status == "Failed" {
		body["error"] = map[string]any{"code": "OperationFailed", "message": "the operation failed after it was taken"}
	}
	c.send(http.StatusOK, body)
	return true
}

// sendResult answers at the address of the style Location.
func (s *Server) sendResult(c *call, op *operation) {
	switch {
	case op.Status == "InProgress":
		c.answer.Header().Set("Location", op.address("operationResults"))
		c.send(http.StatusAccepted, nil)
	case op.Status == "Failed":
		c.refuse(http.StatusBadRequest, "OperationFailed", "", "the operation failed after it was taken")
	case op.Verb == http.MethodDelete:
		c.send(http.StatusNoContent, nil)
	default:
		s.sendObject(c, http.StatusOK, op.object)
	}
}
