package integration

import "errors"

// A FailureClass is the kind of a failure of a native integration, by the name that it has in
// the results.
type FailureClass string

// The classes that an integration can give to a failure. A failure without a class is one of
// the integration itself.
const (
	FailureOfConfig  FailureClass = "config"    // the data or the settings are wrong
	FailureTransient FailureClass = "transient" // it may go away by itself, so the task is tried again
)

// A failure is an error with a class.
type failure struct {
	error
	class FailureClass
}

func (f failure) Unwrap() error { return f.error }

// FailureClass returns the class.
func (f failure) FailureClass() string { return string(f.class) }

// Failure gives a class to an error of a native integration.
func Failure(class FailureClass, err error) error { return failure{err, class} }

// ClassOfFailure returns the class of an error of a native integration, or "" if it has none.
// Every error with a method FailureClass has a class.
func ClassOfFailure(err error) FailureClass {
	var classed interface{ FailureClass() string }
	if !errors.As(err, &classed) {
		return ""
	}
	return FailureClass(classed.FailureClass())
}
