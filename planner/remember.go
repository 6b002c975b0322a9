package planner

import (
	"context"
)

// RememberBase works out what the tasks of all integrations see of a base, so that the memory
// of the input has it. Both bundles of the input are the base. It returns of how many
// integrations that can be told: of those whose queries are declared.
func RememberBase(ctx context.Context, in Input) (int, error) {
	l, err := newLadder(in)
	if err != nil {
		return 0, err
	}
	known := 0
	for _, s := range l.subjects {
		if _, ok := l.comparison.VisibleState(ctx, s); ok {
			known++
		}
	}
	return known, ctx.Err()
}
