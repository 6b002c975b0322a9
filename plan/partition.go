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

// A Part holds the tasks of a plan that one of several machines runs.
type Part struct {
	// Order is the run order of the tasks. When there are fewer parts than orders, it
	// is the order of the first task.
	Order int
	Tasks []Task // as the plan orders them
}

// Partition divides tasks into n parts, at least one and at most [MaxParts]. Every
// task is in exactly one part. If there are enough parts, each part holds tasks of
// one order, and the parts are numbered by ascending order. With fewer parts than
// orders, a part holds tasks of several orders and runs one order after the other.
// The sequence of the given tasks does not matter.
//
// Within an order, the longest task is placed first, in the part with the least
// work. The result takes at most 4/3 of the time of the best division (Graham,
// "Bounds on multiprocessing timing anomalies", 1969). A task without an estimate
// counts as the median of the tasks with one.
func Partition(tasks []Task, n int) []Part {
	n = min(max(n, 1), MaxParts)
	parts := make([]Part, n)
	groups := byOrder(tasks)
	weights := durations(tasks)
	if n < len(groups) {
		groups = [][]int{slices.Concat(groups...)}
	}
	first := 0
	for i, count := range partsPerGroup(groups, weights, n) {
		assign(parts[first:first+count], tasks, groups[i], weights)
		first += count
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

// durations returns the estimated duration of each task. A task without an estimate
// has the median duration of the others.
func durations(tasks []Task) []float64 {
	var known []float64
	for _, t := range tasks {
		if hasEstimate(t) {
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
		if hasEstimate(t) {
			weights[i] = t.EstimateSeconds
		}
	}
	return weights
}

// hasEstimate tells whether the duration of a task was estimated.
func hasEstimate(t Task) bool { return t.EstimateSeconds > 0 && !math.IsInf(t.EstimateSeconds, 1) }

// partsPerGroup returns how many of n parts each group gets. Every group gets one
// part. Each further part goes to the group whose parts have the most work, but no
// group gets more parts than it has tasks. Parts that no group needs go to the last
// group.
func partsPerGroup(groups [][]int, weights []float64, n int) []int {
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
		busiest := -1
		for i, group := range groups {
			if out[i] < len(group) && (busiest < 0 || total[i]/float64(out[i]) > total[busiest]/float64(out[busiest])) {
				busiest = i
			}
		}
		if busiest < 0 {
			break
		}
		out[busiest]++
	}
	out[len(out)-1] += left
	return out
}

// sum adds the weights of a group, from the smallest to the largest, so that the
// sequence of the tasks does not change the rounding.
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

// assign puts the tasks of a group into parts.
func assign(parts []Part, tasks []Task, group []int, weights []float64) {
	longest := slices.Clone(group)
	slices.SortFunc(longest, func(a, b int) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), strings.Compare(tasks[a].ID, tasks[b].ID))
	})
	queue := make(partHeap, len(parts))
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

// A partHeap is a heap of parts. The part with the least work is on top; of equal
// parts, the first.
type partHeap []struct {
	load float64
	part int
}

func (h partHeap) Len() int      { return len(h) }
func (h partHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h partHeap) Push(any)      {} // heap.Fix never does
func (h partHeap) Pop() any      { return nil }
func (h partHeap) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].load, h[j].load), cmp.Compare(h[i].part, h[j].part)) < 0
}
