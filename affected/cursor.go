package affected

import (
	"errors"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/sharding"
)

// A cursor is a selector on its way through a document.
type cursor struct {
	selector integration.Selector
	step     int
}

// forward returns the cursors that a named member leads on.
func forward(cursors []cursor, name string) []cursor {
	var out []cursor
	for _, c := range cursors {
		if s := c.selector.Steps[c.step]; s.Kind == integration.Field && s.Name == name {
			out = append(out, cursor{c.selector, c.step + 1})
		}
	}
	return out
}

// chosen returns the cursors that a wildcard of the given kind leads on.
func chosen(cursors []cursor, kind integration.StepKind) []cursor {
	var out []cursor
	for _, c := range cursors {
		if c.selector.Steps[c.step].Kind == kind {
			out = append(out, cursor{c.selector, c.step + 1})
		}
	}
	return out
}

// wildcard tells whether one of the cursors stands before a wildcard.
func wildcard(cursors []cursor) bool {
	return slices.ContainsFunc(cursors, func(c cursor) bool {
		return c.selector.Steps[c.step].Kind != integration.Field
	})
}

// lookup follows the steps from an owner element to its key.
func lookup(v any, steps []integration.Step) (string, error) {
	for _, s := range steps {
		o, ok := v.(*bundle.Object)
		if !ok {
			return "", fmt.Errorf("has no %q", s.Name)
		}
		if v, ok = o.Get(s.Name); !ok {
			return "", fmt.Errorf("has no %q", s.Name)
		}
	}
	key, ok := v.(string)
	if !ok {
		return "", errors.New("has a key that is no string")
	}
	return key, sharding.CheckKey(key)
}
