package integration

import (
	"time"

	"go.yaml.in/yaml/v3"
)

// DefaultReuse holds where the settings say nothing.
const DefaultReuse = time.Hour

// maxReuse is for how long it is remembered at all how tasks ended.
const maxReuse = 14 * 24 * time.Hour

// fresh is for how long a task that passed counts as passed, 0 for never.
func (s *Settings) fresh() time.Duration {
	if s.reuse == nil {
		return DefaultReuse
	}
	return *s.reuse
}

// fresh reads reuse: a duration, or none.
func (r *reader) fresh(n *yaml.Node, at string) time.Duration {
	if n.Kind == yaml.ScalarNode && n.Value == "none" {
		return 0
	}
	d, err := time.ParseDuration(n.Value)
	switch {
	case n.Kind != yaml.ScalarNode || err != nil:
		r.fail(n.Line, at, "must be none or a duration such as 30m or 4h, got %s", kind(n))
	case d < time.Second || d > maxReuse:
		r.fail(n.Line, at, "must be none or from 1s to %.0fh, got %s", maxReuse.Hours(), clip(n.Value))
	default:
		return d
	}
	return 0
}
