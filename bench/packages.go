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

// A benchmark is one of a package, on one processor.
type benchmark struct {
	path, folder, name string
	budget             float64
}

// packages are the parts that are measured by benchmarks of packages.
var packages = []benchmark{
	{"plan of 100 integrations without queries, by traces", "./planner", "BenchmarkRecall", 0.4},
	{"difference of states of 12.9 MB, 1 change", "./affected", "BenchmarkAttribute/1_change/order_ignored", 0.06},
	{"difference of states of 12.9 MB, other order and 1 change", "./affected",
		"BenchmarkAttribute/reorder_and_1_change/order_ignored", 0.06},
	{"difference of states of 12.9 MB, 10,000 changes", "./affected", "BenchmarkAttribute/10000_changes/order_ignored",
		0.25},
}

// benchmark runs a benchmark.
func (b *bench) benchmark(ctx context.Context, p benchmark) ([]line, error) {
	_, _ = fmt.Fprintf(b.notes, "bench: %s of %s\n", p.name, p.folder) // only a message
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^"+p.name+"$", "-benchtime",
		strconv.Itoa(b.runs)+"x", p.folder)
	cmd.Dir, cmd.Env = b.root, append(os.Environ(), "GOMAXPROCS=1")
	raw, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", p.name, err, raw)
	}
	seconds, ok := nanoseconds(string(raw))
	if !ok {
		return nil, fmt.Errorf("%s printed no time:\n%s", p.name, raw)
	}
	return []line{{measured: seconds, unit: "s", budget: p.budget}}, nil
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
