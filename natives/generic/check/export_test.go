package check

import (
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/validate"
)

// WithType is [Run] for entries that all have one type.
func WithType(base, head *cloud.Model, t *validate.Checker) *Report {
	c := newChecker(base, head)
	c.always = t
	return c.run(base, head)
}
