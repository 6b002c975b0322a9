package validate

import (
	"fmt"
	"hash/maphash"
	"regexp"
	"slices"

	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/resources"
	"github.com/app-sre/prcheck/plan"
)

// A Checker is what is known of a resource type.
type Checker struct {
	// Requests are the schemas of the bodies that the type takes, the one that decides first.
	// A property is known if one of them has it. Without schemas only the rules are checked.
	Requests []*openapi.Schema
	Rules    rules.Rules
	// Lock locks the specification while schemas are read, and returns what unlocks it. Without
	// one, only one goroutine may use what was read of the specification.
	Lock func() (unlock func())

	patterns map[string]*regexp.Regexp // nil for those that cannot be read
	enums    map[*openapi.Value]*enumeration
	forms    map[*openapi.Variants]*forms
}

// NewType returns what is known of a type of a specification, with the rules of its
// properties, and what locks the specification, which may be nil.
func NewType(t *resources.Type, r rules.Rules, lock func() (unlock func())) (*Checker, error) {
	if lock != nil {
		defer lock()()
	}
	bodies, err := t.Bodies()
	if err != nil {
		return nil, err
	}
	out := &Checker{Rules: r, Lock: lock}
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
	// Stop is asked now and then, if it is not nil. Once it returns true, the rest of the body is
	// not checked, which is a mistake.
	Stop func() bool
}

// The bounds of a body.
const (
	maxDepth    = 200
	maxPath     = 4096 // bytes of the pointer of a value with something inside
	maxFindings = 200
)

// Check returns the mistakes of a body in the order of its properties, at most 200.
func (t *Checker) Check(b Body) []Violation {
	var l List
	t.Walk(b, l.Add)
	return l.Findings()
}

// Walk calls each for the mistakes of a body in the order of its properties, until each returns
// false.
func (t *Checker) Walk(b Body, each func(Violation) (goOn bool)) {
	b.Given = slices.Sorted(slices.Values(b.Given))
	w := &walk{typ: t, given: b, each: each, told: map[uint64]bool{}, seed: maphash.MakeSeed()}
	w.value(b.Value, place{}, t.Requests)
}

// A List gathers the first mistakes of a walk. It ends the walk when it is full and holds a
// mistake that fails a check: then no later mistake changes the verdict. The zero value is an
// empty list.
type List struct {
	// IsOld reports whether a mistake fails nothing, since it was there before. It is asked once
	// for each mistake, in order. nil means that none was there.
	IsOld func(Violation) bool

	found   []Violation
	isLong  bool // there are mistakes that are not in the list
	hasFail bool
}

// Add adds a mistake, and reports whether the walk has to go on.
func (l *List) Add(f Violation) (goOn bool) {
	f.Old = l.IsOld != nil && l.IsOld(f)
	fails := f.Severity == plan.SeverityError && !f.Old
	switch {
	case len(l.found) < maxFindings-1:
		l.found = append(l.found, f)
	case fails && !l.hasFail:
		l.found[len(l.found)-1], l.isLong = f, true
	default:
		l.isLong = true
	}
	l.hasFail = l.hasFail || fails
	return !l.isLong || !l.hasFail
}

// Findings returns the mistakes in order, at most 200. The last one says if there are more.
func (l *List) Findings() []Violation {
	if !l.isLong {
		return l.found
	}
	more := Violation{Code: CodeBounds, Severity: plan.SeverityWarning,
		Message: fmt.Sprintf("there are more than %d mistakes; the rest is not listed", maxFindings-1)}
	if l.hasFail {
		more.Severity = plan.SeverityError
	}
	return append(l.found[:len(l.found):len(l.found)], more)
}
