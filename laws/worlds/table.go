//go:build unix

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"
)

// write writes the table of all that was counted.
func (s sum) write(out io.Writer, o options, commit string, took time.Duration) {
	for i, line := range slices.Sorted(maps.Keys(s.unchecked)) {
		if i < 5 {
			_, _ = fmt.Fprintf(out, "not checked %d times: %s\n", s.unchecked[line], line)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(s.whys)) {
		_, _ = fmt.Fprintf(out, "needless %d times: %s\n", s.whys[why], why)
	}
	percent := 0.0
	if s.unchanged > 0 {
		percent = 100 * float64(s.needless) / float64(s.unchanged)
	}
	each := func(d time.Duration) string {
		return fmt.Sprintf("%.2f s for each pair and place", d.Seconds()/float64(max(1, s.pairs)))
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range [][2]string{
		{"pairs and places", fmt.Sprint(s.pairs)},
		{"runs", fmt.Sprint(s.runs)},
		{"skips", fmt.Sprint(s.skips)},
		{"reuses", fmt.Sprint(s.reuses)},
		{"new faults", fmt.Sprint(s.faults)},
		{"wrong skips", fmt.Sprint(s.wrongSkips)},
		{"false greens", fmt.Sprint(s.falseGreens)},
		{"needless", fmt.Sprintf("%d of %d that read nothing new (%.1f %%)", s.needless, s.unchanged, percent)},
		{"over-strict", fmt.Sprint(s.overStrict)},
		{"false reds", fmt.Sprint(s.falseReds)},
		{"green", fmt.Sprint(s.greens)},
		{"not checked", fmt.Sprint(s.notChecked)},
		{"not judged", fmt.Sprint(len(s.failures))},
		{"wall of precheck", each(s.prechecks) + ", CPU " + each(s.prechecked)},
		{"wall of truth", each(s.truths)},
		{"wall of git", each(s.gits)},
		{"seconds", fmt.Sprintf("%.1f", took.Seconds())},
		{"seed", fmt.Sprint(o.seed)},
		{"commit", commit},
	} {
		_, _ = fmt.Fprintf(t, "%s\t%s\n", row[0], row[1])
	}
	_ = t.Flush()
}
