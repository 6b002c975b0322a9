package plan

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"strings"
)

// MaxParts is the largest number of parts that a plan is divided into.
const MaxParts = 100_000

// A Part is what one of several machines runs of a plan.
type Part struct {
	// Order is the run order of its tasks; of the first of them when there are
	// fewer parts than orders.
	Order int
	Tasks []Task // as the plan orders them
}

// Partition divides tasks into n parts, at least one and at most [MaxParts]:
// every task is in exactly one of them. Each part holds tasks of one order, and
// the parts are numbered by ascending order, as far as there are enough parts
// for that. With fewer parts than orders, a part holds tasks of several, which
// it runs one order after the other. The same tasks give the same parts in
// whatever sequence they come.
//
// Within an order the longest task goes first, to the part that has least to do:
// at most 4/3 of what the best division takes (Graham, "Bounds on multiprocessing
// timing anomalies", 1969). A task without an estimate counts as the median of
// those that have one.
func Partition(tasks []Task, n int) []Part {
	n = min(max(n, 1), MaxParts)
	parts := make([]Part, n)
	groups := byOrder(tasks)
	weights := weigh(tasks)
	if n < len(groups) {
		groups = [][]int{slices.Concat(groups...)}
	}
	first := 0
	for i, share := range shares(groups, weights, n) {
		spread(parts[first:first+share], tasks, groups[i], weights)
		first += share
	}
	return parts
}

// byOrder lists the indices of the tasks of each order, ascending.
func byOrder(tasks []Task) [][]int {
	indices := make([]int, len(tasks))
	for i := range indices {
		indices[i] = i
	}
	slices.SortStableFunc(indices, func(a, b int) int { return cmp.Compare(tasks[a].Order, tasks[b].Order) })
	var groups [][]int
	for i, at := range indices {
		if i == 0 || tasks[at].Order != tasks[indices[i-1]].Order {
			groups = append(groups, nil)
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], at)
	}
	return groups
}

// weigh returns how long each task takes, as far as anyone knows.
func weigh(tasks []Task) []float64 {
	var known []float64
	for _, t := range tasks {
		if estimated(t) {
			known = append(known, t.EstimateSeconds)
		}
	}
	slices.Sort(known)
	unknown := 1.0
	if len(known) > 0 {
		unknown = known[len(known)/2]
	}
	weights := make([]float64, len(tasks))
	for i, t := range tasks {
		weights[i] = unknown
		if estimated(t) {
			weights[i] = t.EstimateSeconds
		}
	}
	return weights
}

func estimated(t Task) bool { return t.EstimateSeconds > 0 && !math.IsInf(t.EstimateSeconds, 1) }

// shares says how many of n parts each group gets: one, and then always one more
// for the group whose parts have most to do, but never more than it has tasks.
// What nobody needs goes to the last one.
func shares(groups [][]int, weights []float64, n int) []int {
	if len(groups) == 0 {
		return nil
	}
	out := make([]int, len(groups))
	total := make([]float64, len(groups))
	for i, group := range groups {
		out[i] = 1
		total[i] = sum(group, weights)
	}
	left := n - len(groups)
	for ; left > 0; left-- {
		most := -1
		for i, group := range groups {
			if out[i] < len(group) && (most < 0 || total[i]/float64(out[i]) > total[most]/float64(out[most])) {
				most = i
			}
		}
		if most < 0 {
			break
		}
		out[most]++
	}
	out[len(out)-1] += left
	return out
}

// sum adds from the smallest on, so that no sequence of the tasks changes it.
func sum(group []int, weights []float64) (total float64) {
	sorted := make([]float64, len(group))
	for i, at := range group {
		sorted[i] = weights[at]
	}
	slices.Sort(sorted)
	for _, w := range sorted {
		total += w
	}
	return total
}

// spread puts the tasks of a group into parts.
func spread(parts []Part, tasks []Task, group []int, weights []float64) {
	longest := slices.Clone(group)
	slices.SortFunc(longest, func(a, b int) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), strings.Compare(tasks[a].ID, tasks[b].ID))
	})
	queue := make(lightest, len(parts))
	for i := range queue {
		queue[i].part = i
		parts[i].Order = tasks[group[0]].Order
	}
	of := make(map[int]int, len(group))
	for _, at := range longest {
		of[at] = queue[0].part
		queue[0].load += weights[at]
		heap.Fix(&queue, 0)
	}
	slices.Sort(group)
	for _, at := range group {
		p := &parts[of[at]]
		p.Tasks = append(p.Tasks, tasks[at])
	}
}

// lightest is a heap of parts: on top the one that has least to do, of equal ones
// the first.
type lightest []struct {
	load float64
	part int
}

func (l lightest) Len() int      { return len(l) }
func (l lightest) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l lightest) Push(any)      {} // heap.Fix never does
func (l lightest) Pop() any      { return nil }
func (l lightest) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(l[i].load, l[j].load), cmp.Compare(l[i].part, l[j].part)) < 0
}
