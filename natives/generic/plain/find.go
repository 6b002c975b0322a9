package plain

import (
	"fmt"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// Matches returns the items of a collection that have the natural key of a body.
func (h *Habits) Matches(items []any, desired any) []any {
	var out []any
	for _, item := range items {
		isSame := true
		for _, name := range h.Key {
			at := jsonpointer.Append("", name)
			want, _ := body.Get(desired, at)
			is, has := body.Get(item, at)
			isSame = isSame && has && want != nil && textOf(is) == textOf(want)
		}
		if isSame {
			out = append(out, item)
		}
	}
	return out
}

// Choose returns the one of several resources with one natural key that an entry means, nil if there is none. isLost
// says that the state knows of a creation whose answer nobody has: then the mark decides between several.
func (h *Habits) Choose(found []any, owner reconcile.Mark, isLost bool) (any, error) {
	switch len(found) {
	case 0:
		return nil, nil
	case 1:
		return found[0], nil
	}
	var ours []any
	for _, one := range found {
		if h.Marks.Of(one) == owner {
			ours = append(ours, one)
		}
	}
	if isLost && len(ours) == 1 {
		return ours[0], nil
	}
	return nil, &AmbiguousError{Number: len(found)}
}

// An AmbiguousError says that several resources have one natural key.
type AmbiguousError struct{ Number int }

// Error says what to do.
func (a *AmbiguousError) Error() string {
	return fmt.Sprintf("%d resources have this natural key: remove or rename the others, or name the one by resourceId",
		a.Number)
}
