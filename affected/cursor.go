package affected

import (
	"errors"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/integration/sharding"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// A cursor is a position in a selector: its steps before step led to the value at
// hand.
type cursor struct {
	selector settings.Selector
	step     int
}

// forward returns the cursors that go on with a named member, one step further.
func forward(cursors []cursor, name string) []cursor {
	var out []cursor
	for _, c := range cursors {
		if s := c.selector.Steps[c.step]; s.Kind == settings.Field && s.Name == name {
			out = append(out, cursor{c.selector, c.step + 1})
		}
	}
	return out
}

// wildcards returns the cursors that go on with a wildcard of the given kind, one
// step further.
func wildcards(cursors []cursor, kind settings.StepKind) []cursor {
	var out []cursor
	for _, c := range cursors {
		if c.selector.Steps[c.step].Kind == kind {
			out = append(out, cursor{c.selector, c.step + 1})
		}
	}
	return out
}

// anyWildcard tells whether the next step of one of the cursors is a wildcard.
func anyWildcard(cursors []cursor) bool {
	return slices.ContainsFunc(cursors, func(c cursor) bool {
		return c.selector.Steps[c.step].Kind != settings.Field
	})
}

// findKey follows the steps from an owner element to its key.
func findKey(v any, steps []settings.Step) (string, error) {
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
