package queue

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Metrics are numbers of a loop, for Prometheus. The zero value has counted nothing.
type Metrics struct {
	rounds int
	took   map[string]*minutes // from approval to merge, by class
	last   *Table
	at     time.Time
}

// bounds are those of the histogram, in minutes: what qontract-reconcile has, and those that a queue of proofs needs.
var bounds = []float64{1, 5, 10, 20, 40, 60}

// minutes is a histogram of minutes.
type minutes struct {
	counts []int // by bound, not summed up
	sum    float64
	all    int
}

func (m *minutes) add(value float64) {
	if m.counts == nil {
		m.counts = make([]int, len(bounds))
	}
	if i := slices.IndexFunc(bounds, func(b float64) bool { return value <= b }); i >= 0 {
		m.counts[i]++
	}
	m.sum, m.all = m.sum+value, m.all+1
}

// Add counts a round by its table.
func (m *Metrics) Add(t *Table, now time.Time) {
	m.rounds, m.last, m.at = m.rounds+1, t, now
	if m.took == nil {
		m.took = map[string]*minutes{}
	}
	for _, r := range t.Rows {
		if r.State != Merged || r.ApprovedAt == nil {
			continue
		}
		if m.took[r.Class] == nil {
			m.took[r.Class] = &minutes{}
		}
		m.took[r.Class].add(max(0, now.Sub(*r.ApprovedAt).Minutes()))
	}
}

// Write writes the numbers in the text format of Prometheus.
func (m *Metrics) Write(w io.Writer) error {
	var b strings.Builder
	head := func(name, kind, help string) {
		fmt.Fprintf(&b, "# HELP prcheck_merge_queue_%s %s\n# TYPE prcheck_merge_queue_%s %s\n", name, help, name, kind)
	}
	head("rounds_total", "counter", "Rounds that were told.")
	fmt.Fprintf(&b, "prcheck_merge_queue_rounds_total %d\n", m.rounds)
	head("minutes_to_merge", "histogram", "Minutes from the approval of a merge request to its merge by the queue.")
	for _, class := range slices.Sorted(maps.Keys(m.took)) {
		m.took[class].write(&b, class)
	}
	if m.last != nil {
		head("requests", "gauge", "Open merge requests of the last round, by state and reason.")
		m.writeStates(&b)
		head("waiting_minutes", "gauge", "Minutes since its approval of the merge request that waits longest, by class.")
		m.writeWaiting(&b)
		head("tasks", "gauge", "Tasks of approved merge requests whose results hold, and that have to run.")
		held, delta, runs, guesses := 0, 0, 0, 0
		for _, r := range m.last.Rows {
			held, delta = held+len(r.Holding), delta+len(r.Delta)
		}
		for _, s := range m.last.Starts {
			if runs++; s.IsGuess {
				guesses++
			}
		}
		fmt.Fprintf(&b, "prcheck_merge_queue_tasks{kind=\"held\"} %d\nprcheck_merge_queue_tasks{kind=\"delta\"} %d\n", held, delta)
		head("starts", "gauge", "Merge requests whose delta can run, and how many of them on a guess.")
		fmt.Fprintf(&b, "prcheck_merge_queue_starts{guess=\"no\"} %d\nprcheck_merge_queue_starts{guess=\"yes\"} %d\n",
			runs-guesses, guesses)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("writing the metrics: %w", err)
	}
	return nil
}

// write writes the histogram of a class.
func (m *minutes) write(b *strings.Builder, class string) {
	sum := 0
	for i, bound := range bounds {
		sum += m.counts[i]
		fmt.Fprintf(b, "prcheck_merge_queue_minutes_to_merge_bucket{class=%q,le=\"%g\"} %d\n", class, bound, sum)
	}
	fmt.Fprintf(b, "prcheck_merge_queue_minutes_to_merge_bucket{class=%q,le=\"+Inf\"} %d\n", class, m.all)
	fmt.Fprintf(b, "prcheck_merge_queue_minutes_to_merge_sum{class=%q} %g\n", class, m.sum)
	fmt.Fprintf(b, "prcheck_merge_queue_minutes_to_merge_count{class=%q} %d\n", class, m.all)
}

func (m *Metrics) writeStates(b *strings.Builder) {
	type key struct {
		state State
		why   Why
	}
	counts := map[key]int{}
	for _, r := range m.last.Rows {
		counts[key{r.State, r.Reason.Why}]++
	}
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.state, b.state), cmp.Compare(a.why, b.why))
	})
	for _, k := range keys {
		fmt.Fprintf(b, "prcheck_merge_queue_requests{state=%q,reason=%q} %d\n", k.state, k.why, counts[k])
	}
}

func (m *Metrics) writeWaiting(b *strings.Builder) {
	longest := map[string]float64{}
	for _, r := range m.last.Rows {
		if r.ApprovedAt != nil && r.State != Merged {
			longest[r.Class] = max(longest[r.Class], m.at.Sub(*r.ApprovedAt).Minutes())
		}
	}
	for _, class := range slices.Sorted(maps.Keys(longest)) {
		fmt.Fprintf(b, "prcheck_merge_queue_waiting_minutes{class=%q} %g\n", class, longest[class])
	}
}
