//go:build unix

package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// anyProgram measures plans by settings that say nothing of programs, so that any file may be one,
// beside the same plans by settings that say that there are none.
func (b *bench) anyProgram(ctx context.Context, small *world) ([]line, error) {
	large, err := b.worldOf(ctx, 5*b.files)
	if err != nil {
		return nil, err
	}
	var out []line
	for _, w := range []*world{small, large} {
		var seconds [2]float64
		for i, settings := range []string{"undeclared.yaml", "usual.yaml"} {
			plan := b.planOf(w, "git:base", "git:head", "--config", filepath.Join(w.dir, settings))
			if seconds[i], err = plan.cpu(ctx, b.runs, true); err != nil {
				return nil, err
			}
		}
		out = append(out, line{measured: seconds[1], unit: "s", peers: []peer{{"programs: none", seconds[0]}},
			ratioTo: "programs: none", budget: 1.1})
	}
	return out, nil
}

// recorded measures tasks whose reads are recorded, in the checkout, in views of it, and with the state
// of the checkout, beside tasks of which nothing is recorded.
func (b *bench) recorded(ctx context.Context, w *world) ([]line, error) {
	var seconds []float64
	for _, how := range [][]string{
		{"--config", "unrecorded.yaml", "--state", "none"}, {"--config", "undeclared.yaml", "--state", "none"},
		{"--config", "usual.yaml", "--state", "none"}, {"--config", "untraced.yaml", "--no-reuse"},
	} {
		tasks := b.program(w, "cache", append([]string{"runner", "precheck", "--base", "git:base",
			"--logs", filepath.Join(w.dir, "..", "logs"), "--progress", "none"}, how...)...)
		found, err := tasks.cpu(ctx, b.runs, true)
		if err != nil {
			return nil, err
		}
		seconds = append(seconds, found)
	}
	var out []line
	for _, measured := range seconds[1:] {
		out = append(out, line{measured: measured, unit: "s", peers: []peer{{"reads: none", seconds[0]}},
			ratioTo: "reads: none"})
	}
	return out, nil
}

// recordingPaths are the rows about recorded calls.
var recordingPaths = []string{
	"a recorded call with a name that was used before", "a recorded call with a new name",
	"a program in Python of a second that is recorded",
}

// recording measures what it costs to record calls. Beside a new name stands the stop alone, which no tracer can avoid.
func (b *bench) recording(ctx context.Context) ([]line, error) {
	_, _ = fmt.Fprintln(b.notes, "bench: recorded calls") // only a message
	cmd := exec.CommandContext(ctx, "go", "test", "-count", "1", "-run", "^$", "-bench",
		"^(BenchmarkStops|BenchmarkCalls|BenchmarkIntegration)$", "-benchtime", strconv.Itoa(b.runs)+"x", "./internal/reads")
	cmd.Dir = b.root
	raw, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("the costs of recording: %w\n%s", err, raw)
	}
	of := func(name string) float64 { return microseconds(string(raw), name) }
	call := func(names string) float64 {
		return of("Calls/"+names+"/absolute/recorded=true") - of("Calls/"+names+"/absolute/recorded=false")
	}
	alone := of("Calls/differ/absolute/recorded=false")
	python := of("Integration/recorded=false")
	return []line{
		{measured: call("same"), unit: "µs", budget: 10},
		{measured: call("differ"), unit: "µs", peers: []peer{{"the stop alone", of("Stops") - alone}}, budget: 10},
		{measured: of("Integration/recorded=true") / 1e6, unit: "s", peers: []peer{{"not recorded", python / 1e6}},
			ratioTo: "not recorded", budget: 1.05},
	}, nil
}

// microseconds returns the processor time of a call that a benchmark told, 0 if it is not there.
func microseconds(text, name string) float64 {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 2 || !strings.HasPrefix(fields[0], "Benchmark"+name) || fields[len(fields)-1] != "cpu-us/call" {
			continue
		}
		if v, err := strconv.ParseFloat(fields[len(fields)-2], 64); err == nil {
			return v
		}
	}
	return 0
}

// A cost is a row of the test of the package world that measures what worlds cost. The budgets are
// those of 10,000 and of 50,000 files.
type cost struct {
	row, path    string
	small, large float64
}

// worldCosts are the rows that are printed.
var worldCosts = []cost{
	{"Keep, first", "base's world of %d files, the first", 3.5, 15},
	{"Keep, by difference", "base's world of %d files, by difference from a kept one", 1, 5},
	{"Keep, kept with the check", "base's world of %d files, kept and checked", 0.1, 0.4},
	{"View and Close, overlay", "a task's view of %d files, as an overlay", 0.1, 0.3},
	{"View and Close, links", "a task's view of %d files, by links", 0.8, 4.7},
}

// costPaths returns the names of the rows about worlds of so many files.
func costPaths(files int) (out []string) {
	for _, c := range worldCosts {
		out = append(out, fmt.Sprintf(c.path, files))
	}
	return out
}

// costs runs the test of the package world that measures what worlds cost.
func (b *bench) costs(ctx context.Context, files int) ([]line, error) {
	_, _ = fmt.Fprintf(b.notes, "bench: worlds of %d files\n", files) // only a message
	cmd := exec.CommandContext(ctx, "go", "test", "-count", "1", "-timeout", "30m", "-run", "^TestCost$", "./world",
		"-cost-files", strconv.Itoa(files), "-v")
	cmd.Dir = b.root
	raw, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("the costs of worlds: %w\n%s", err, raw)
	}
	git := peer{"git checkout-index", costOf(string(raw), "git checkout-index")}
	var out []line
	for _, c := range worldCosts {
		l := line{measured: costOf(string(raw), c.row), unit: "s", peers: []peer{git}}
		switch files {
		case 10_000:
			l.budget = c.small
		case 50_000:
			l.budget = c.large
		}
		if git.seconds > 0 {
			l.note = fmt.Sprintf("(%s × %s)", number(l.measured/git.seconds), git.name)
		}
		out = append(out, l)
	}
	return out, nil
}

// costOf returns the seconds of a row of the test, 0 if it has no such row: not every system has
// overlays.
func costOf(text, row string) float64 {
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, row+"  ")
		if !ok {
			continue
		}
		seconds, _, _ := strings.Cut(strings.TrimSpace(rest), " s")
		if v, err := strconv.ParseFloat(seconds, 64); err == nil {
			return v
		}
	}
	return 0
}
