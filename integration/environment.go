package integration

import (
	"context"
	"errors"
	"io"
	"time"
)

// WithDefaults returns the environment with what nobody listens to in place of what it lacks: a
// log, reports and the clock of the machine. Every secret is an error if there is no source.
func (e Environment) WithDefaults() Environment {
	if e.Log == nil {
		e.Log = io.Discard
	}
	if e.Report == nil {
		e.Report = func(Remark) {}
	}
	if e.Stand == nil {
		e.Stand = func(Standing) {}
	}
	if e.Now == nil {
		e.Now = time.Now
	}
	if e.Mask == nil {
		e.Mask = func(text string) string { return text }
	}
	if e.Secret == nil {
		e.Secret = func(context.Context, SecretRef) (string, error) { return "", errors.New("there are no secrets") }
	}
	return e
}
