package settings

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/phrase"
)

// DefaultBaseline is the value of max_baseline_seconds if the settings do not set it.
const DefaultBaseline = 10 * time.Minute

// Limits of max_baseline_seconds and of the patterns in transient.
const (
	maxTransientPatterns = 50
	maxTransientBytes    = 500 // length of one pattern
	maxBaselineSeconds   = 24 * 3600
)

// Baseline returns how long the failed tasks of a run may take together when they run
// again on base. 0 means that no task runs on base.
func (s *Settings) Baseline() time.Duration {
	if s.baseline == nil {
		return DefaultBaseline
	}
	return *s.baseline
}

// readBaselineLimit reads the key max_baseline_seconds.
func (r *reader) readBaselineLimit(n *yaml.Node, s *Settings) {
	d := time.Duration(r.readInt(n, "max_baseline_seconds", 0, maxBaselineSeconds)) * time.Second
	s.baseline = &d
}

// readTransient reads a list of regular expressions that match lines of output.
func (r *reader) readTransient(n *yaml.Node, at string) []*regexp.Regexp {
	items := r.readList(n, at)
	if !r.checkCount(n, at, maxTransientPatterns, "patterns") {
		return nil
	}
	r.noteItems(items, constraint{"maxLength": maxTransientBytes})
	var out []*regexp.Regexp
	for _, t := range r.readUniqueTexts(items, at) {
		p, err := regexp.Compile(t.value)
		switch {
		case len(t.value) > maxTransientBytes:
			r.fail(t.line, at, "pattern %s is longer than %d bytes", phrase.Quote(t.value), maxTransientBytes)
		case err != nil:
			r.fail(t.line, at, "pattern %s is no regular expression: %s", phrase.Quote(t.value), regexpProblem(err))
		case p.MatchString(""):
			r.fail(t.line, at, "pattern %s matches every line, so that every failure would be transient", phrase.Quote(t.value))
		default:
			out = append(out, p)
		}
	}
	return out
}

// regexpProblem returns the message of an error of regexp.Compile without the expression.
func regexpProblem(err error) string {
	var bad *syntax.Error
	if errors.As(err, &bad) {
		return bad.Code.String()
	}
	return err.Error()
}
