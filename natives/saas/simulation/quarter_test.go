package simulation

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"
)

var (
	days = flag.Int("days", 0, "how many days are simulated; 90 is a quarter, 0 as many as are quick")
	seed = flag.Uint64("seed", 1, "the seed of the simulation")
)

// TestQuarter plays a quarter, or three days of it, with both systems and prints the table.
func TestQuarter(t *testing.T) {
	s := quarter
	s.days = cmp.Or(*days, 3)
	started := time.Now()
	old := newWorld(*seed, s)
	old.play(newToday(old))
	tookOld := time.Since(started)
	our := newWorld(*seed, s)
	our.play(newOurs(our))
	t.Logf("%d days, %d files, %d targets; took %s and %s", s.days, s.files, s.targets, tookOld.Round(time.Second),
		(time.Since(started) - tookOld).Round(time.Second))
	for _, row := range []struct {
		name string
		of   func(f *figures) any
	}{
		{"runs", func(f *figures) any { return f.runs }},
		{"runs that failed", func(f *figures) any { return f.failed }},
		{"runs per merge and cell, most", func(f *figures) any { return slices.Max(f.perMerge) }},
		{"runs per merge and cell, mean", func(f *figures) any { return fmt.Sprintf("%.3f", mean(f.perMerge)) }},
		{"runs of a cell at once, most", func(f *figures) any { return f.atOnce }},
		{"runs beside another of the cell", func(f *figures) any { return f.doubled }},
		{"runs that deployed older over newer", func(f *figures) any { return f.older }},
		{"lost triggers", func(f *figures) any { return len(f.lost) }},
		{"failed runs that nobody remembers", func(f *figures) any { return len(f.forgotten) }},
		{"differences without a word", func(f *figures) any { return len(f.unnamed) }},
		{"held or failed at the end, named", func(f *figures) any { return f.held }},
	} {
		t.Logf("%-38s %10v %10v", row.name, row.of(&old.figures), row.of(&our.figures))
	}
	f := our.figures
	if slices.Max(f.perMerge) > 1 || f.atOnce > 1 || f.older > 0 || len(f.lost)+len(f.unnamed)+len(f.forgotten) > 0 {
		t.Errorf("lost %v, unnamed %v", few(f.lost), few(f.unnamed))
	}
	if slices.Max(old.perMerge) < 2 || len(old.lost) == 0 {
		t.Error("the model of today has none of its defects, so the world does not show them")
	}
}

// The world notices what a system gets wrong: what it takes for deployed and is not, and what it
// does not see.
func TestWorldNotices(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*ours)
		told func(*figures) int
	}{
		"runs that failed count as deployed": {func(s *ours) { s.lies = true }, func(f *figures) int { return len(f.lost) }},
		"services are not asked":             {func(s *ours) { s.deaf = true }, func(f *figures) int { return len(f.lost) }},
	} {
		w := newWorld(2, size{files: 20, targets: 200, days: 3, merges: 30, commits: 60})
		s := newOurs(w)
		c.set(s)
		if w.play(s); c.told(&w.figures) == 0 {
			t.Errorf("%s: nobody noticed", name)
		}
	}
}

func mean(list []int) float64 {
	sum := 0
	for _, n := range list {
		sum += n
	}
	return float64(sum) / float64(max(len(list), 1))
}

// few returns some of a set, for people.
func few(set map[string]bool) []string {
	var out []string
	for what := range set {
		out = append(out, what)
	}
	slices.Sort(out)
	return out[:min(len(out), 5)]
}
