//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
)

// packages measures single parts by the benchmarks of packages, on one processor.
func (b *bench) packages(ctx context.Context, _, _ *world) ([]line, error) {
	var out []line
	for _, p := range []struct {
		path, folder, benchmark string
		budget                  float64
	}{
		{"plan of 100 integrations without queries, by traces", "./planner", "BenchmarkRecall", 0.4},
		{"difference of states of 12.9 MB, 1 change", "./affected", "BenchmarkAttribute/1_change/order_ignored", 0.06},
		{"the same, other order and 1 change", "./affected", "BenchmarkAttribute/reorder_and_1_change/order_ignored", 0.06},
		{"the same, 10,000 changes", "./affected", "BenchmarkAttribute/10000_changes/order_ignored", 0.25},
	} {
		_, _ = fmt.Fprintf(b.notes, "bench: %s of %s\n", p.benchmark, p.folder) // only a message
		cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^"+p.benchmark+"$", "-benchtime", strconv.Itoa(b.runs)+"x", p.folder)
		cmd.Dir, cmd.Env = b.root, append(os.Environ(), "GOMAXPROCS=1")
		raw, err := cmd.CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", p.benchmark, err, raw)
		}
		seconds, ok := nanoseconds(string(raw))
		if !ok {
			return nil, fmt.Errorf("%s printed no time:\n%s", p.benchmark, raw)
		}
		out = append(out, line{path: p.path, measured: seconds, unit: "s", budget: p.budget})
	}
	return out, nil
}

var perOperation = regexp.MustCompile(`\s([0-9.]+) ns/op`)

// nanoseconds returns the time of the first benchmark in an output, in seconds.
func nanoseconds(text string) (float64, bool) {
	m := perOperation.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(m[1], 64)
	return v / 1e9, err == nil
}
