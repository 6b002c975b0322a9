package submit

import (
	"fmt"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/plan"
)

// Each part is in exactly one round, in order. If there are several parts, all tasks of a
// round have the same run order, and the run orders of the rounds ascend.
func TestRounds(t *testing.T) {
	for name, c := range map[string]struct {
		orders []int
		wanted int
		want   []round
	}{
		"no tasks":            {nil, 8, []round{{0, 1}}},
		"one order":           {[]int{4, 4, 4}, 2, []round{{0, 2}}},
		"one part":            {[]int{2, 1, 3}, 1, []round{{0, 1}}},
		"two orders":          {[]int{1, 0, 0, 0}, 3, []round{{0, 2}, {2, 1}}},
		"fewer than orders":   {[]int{1, 0, 2, 0}, 2, []round{{0, 1}, {1, 1}, {2, 1}}},
		"more than tasks":     {[]int{1, 0, -2}, 50, []round{{0, 1}, {1, 1}, {2, 1}}},
		"every second higher": {[]int{0, 1, 0, 1}, 4, []round{{0, 2}, {2, 2}}},
	} {
		var tasks []plan.Task
		for i, order := range c.orders {
			tasks = append(tasks, plan.Task{ID: fmt.Sprint(i), Order: order})
		}
		n := countParts(tasks, c.wanted)
		parts := plan.Partition(tasks, n)
		got := roundsOf(parts)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
		for _, r := range got {
			for _, p := range parts[r.first : r.first+r.parts] {
				for _, task := range p.Tasks {
					if n > 1 && task.Order != parts[r.first].Order {
						t.Errorf("%s: %v runs with order %d", name, task, parts[r.first].Order)
					}
				}
			}
		}
	}
}
