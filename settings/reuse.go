package settings

import (
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/phrase"
)

// DefaultReuse is the value of reuse if the settings do not set it.
const DefaultReuse = time.Hour

// maxReuse is the time after which results are forgotten.
const maxReuse = 14 * 24 * time.Hour

// reuseTime returns how long a passed task need not run again on the same inputs. 0 means
// that it always runs again.
func (s *Settings) reuseTime() time.Duration {
	if s.reuse == nil {
		return DefaultReuse
	}
	return *s.reuse
}

// readReuse reads the key reuse: a duration, or "none" for 0.
func (r *reader) readReuse(n *yaml.Node, at string) time.Duration {
	r.note(n, noneOrDuration)
	if n.Kind == yaml.ScalarNode && n.Value == "none" {
		return 0
	}
	d, err := time.ParseDuration(n.Value)
	switch {
	case n.Kind != yaml.ScalarNode || err != nil:
		r.fail(n.Line, at, "must be none or a duration such as 30m or 4h, got %s", describeNode(n))
	case d < time.Second || d > maxReuse:
		r.fail(n.Line, at, "must be none or from 1s to %.0fh, got %s", maxReuse.Hours(), phrase.Quote(n.Value))
	default:
		return d
	}
	return 0
}
