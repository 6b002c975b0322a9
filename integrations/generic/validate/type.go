package validate

import (
	"regexp"

	"github.com/app-sre/prcheck/integrations/generic/rules"
	"github.com/app-sre/prcheck/openapi"
	"github.com/app-sre/prcheck/openapi/resources"
)

// A Type is what is known of a resource type.
type Type struct {
	// Requests are the schemas of the bodies that the type takes, the one that decides first.
	// A property is known if one of them has it. Without schemas only the rules are checked.
	Requests []*openapi.Schema
	Rules    rules.Rules
	// Lock locks the specification while schemas are read, and returns what unlocks it. Without
	// one, only one goroutine may use what was read of the specification.
	Lock func() (unlock func())

	patterns map[string]*regexp.Regexp // nil for those that cannot be read
}

// NewType returns what is known of a type of a specification, with the rules of its
// properties, and what locks the specification, which may be nil.
func NewType(t *resources.Type, r rules.Rules, lock func() (unlock func())) (*Type, error) {
	if lock != nil {
		defer lock()()
	}
	bodies, err := t.Bodies()
	if err != nil {
		return nil, err
	}
	out := &Type{Rules: r, Lock: lock}
	for _, s := range []*openapi.Schema{bodies.Put, bodies.Post} {
		if s != nil {
			out.Requests = append(out.Requests, s)
		}
	}
	return out, nil
}

// A Body is a body with what stands beside it in the data.
type Body struct {
	Value any
	// Given are JSON pointers of properties that the data give elsewhere: secrets by
	// reference.
	Given []string
	// Fixed are the values that parts of the identity must have in the body if they are
	// there, by their JSON pointers.
	Fixed map[string]string
	// IsPart says that the body need not be complete, because the thing is there already.
	IsPart bool
}

// The bounds of a body.
const (
	maxDepth    = 200
	maxFindings = 200
)

// Check returns the mistakes of a body in the order of its properties, at most 200.
func (t *Type) Check(b Body) []Finding {
	w := &walk{typ: t, given: b, told: map[string]bool{}}
	w.value(b.Value, place{}, t.Requests)
	return w.out
}
