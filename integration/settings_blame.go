package integration

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"time"

	"go.yaml.in/yaml/v3"
)

// DefaultBaseline is how long failed tasks may take on base when the settings say
// nothing.
const DefaultBaseline = 10 * time.Minute

// The bounds of patterns over the output of tasks, and of the time on base.
const (
	maxTransient   = 50
	maxTransientAt = 500 // bytes of one
	maxBaseline    = 24 * 3600
)

// Baseline is how long the failed tasks of a run may take together when they are
// run again on base; 0 means that none is.
func (s *Settings) Baseline() time.Duration {
	if s.baseline == nil {
		return DefaultBaseline
	}
	return *s.baseline
}

// baselineSeconds reads max_baseline_seconds.
func (r *reader) baselineSeconds(n *yaml.Node, s *Settings) {
	d := time.Duration(r.integer(n, "max_baseline_seconds", 0, maxBaseline)) * time.Second
	s.baseline = &d
}

// transient reads patterns over lines of output.
func (r *reader) transient(n *yaml.Node, at string) []*regexp.Regexp {
	items := r.items(n, at)
	if len(items) > maxTransient {
		r.fail(n.Line, at, "has more than %d patterns", maxTransient)
		return nil
	}
	var out []*regexp.Regexp
	for _, t := range r.texts(items, at) {
		p, err := regexp.Compile(t.value)
		switch {
		case len(t.value) > maxTransientAt:
			r.fail(t.line, at, "pattern %s is longer than %d bytes", clip(t.value), maxTransientAt)
		case err != nil:
			r.fail(t.line, at, "pattern %s is no regular expression: %s", clip(t.value), reason(err))
		case p.MatchString(""):
			r.fail(t.line, at, "pattern %s matches every line, so that every failure would be transient", clip(t.value))
		default:
			out = append(out, p)
		}
	}
	return out
}

// reason is what is wrong with a regular expression, without the expression.
func reason(err error) string {
	var bad *syntax.Error
	if errors.As(err, &bad) {
		return bad.Code.String()
	}
	return err.Error()
}
