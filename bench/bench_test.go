//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/script"
)

// The table has a line for each path, and says of each whether the budget is met. What it says
// is that of a very small checkout, so only the form is looked at.
func TestTable(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the programs")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	var out, notes bytes.Buffer
	small := options{files: 60, runs: 1, integrations: 7, programs: script.Programs(t)}
	if err := measure(t.Context(), &out, &notes, small); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"plan of two revisions, 60 datafiles, warm", "plan of two revisions, 300 datafiles, warm",
		"60 datafiles, nothing cached", "plan of the working tree", "precheck with 7 tasks",
		"any file a program, 60 datafiles", "any file a program, 300 datafiles",
		"diff of two bundles", "index remembered", "--state, 7 integrations", "private memory", "server, 60 datafiles",
		"the most memory of the process",
	} {
		_, rest, ok := strings.Cut(out.String(), path)
		if row, _, _ := strings.Cut(rest, "\n"); !ok || !strings.Contains(row, " met") && !strings.Contains(row, " missed") &&
			!strings.Contains(row, "not known") {
			t.Errorf("got\n%s\nwant a verdict about %q", &out, path)
		}
	}
	if !strings.Contains(out.String(), "not built") {
		t.Errorf("got\n%s\nwant it to say what is not built", &out)
	}
	out.Reset()
	only := small
	only.only = regexp.MustCompile("working tree|most memory")
	if err := measure(t.Context(), &out, &notes, only); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(out.String()),
		"\n"); len(lines) != 5 || !strings.HasPrefix(lines[3], "plan of the working tree") ||
		!strings.HasPrefix(lines[4], "server, 60 datafiles") {
		t.Errorf("got\n%s\nwant two rows", &out)
	}
	out.Reset()
	growth := options{growth: []int{40}, runs: 1, integrations: 7, programs: small.programs}
	if err := measure(t.Context(), &out, &notes, growth); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); len(lines) != 4 ||
		len(strings.Fields(lines[3])) != 9 {
		t.Errorf("got\n%s", &out)
	}
}

// A name that no row has is an error before anything is measured.
func TestUnknownRow(t *testing.T) {
	b := &bench{options: options{files: 60, benchmarks: true, only: regexp.MustCompile("no such row")}, notes: t.Output()}
	if lines, err := b.lines(t.Context()); err == nil || !strings.Contains(err.Error(), "no such row") {
		t.Errorf("got %v, %v, want an error with the expression", lines, err)
	}
}

// The model is that of the first processor, and nothing where it is not known.
func TestModel(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cpuinfo")
	if err := os.WriteFile(file,
		[]byte("processor\t: 0\nmodel\t\t: 85\nmodel name\t: A Processor: 2 GHz\nprocessor\t: 1\nmodel name\t: Another\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := modelOf(file), " of A Processor: 2 GHz"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := modelOf(file + ".none"); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
}

func TestVerdict(t *testing.T) {
	at := func(l line) string { l.unit = "s"; return strings.Join(l.cells()[1:], " | ") }
	for _, c := range []struct {
		l    line
		want string
	}{
		{line{measured: 1, budget: 1}, "1 s |  |  | ≤ 1 s | met"},
		{line{measured: 1.1, budget: 1}, "1.1 s |  |  | ≤ 1 s | missed"},
		{line{measured: 3, peers: []peer{{"cmp", 1}, {"Node", 0}}, ratioTo: "cmp", budget: 2},
			"3 s | cmp 1, Node not installed | 3.0 × cmp | ≤ 2 × cmp | missed"},
		{line{measured: 3, peers: []peer{{"cmp", 0}}, ratioTo: "cmp", budget: 2},
			"3 s | cmp not installed |  | ≤ 2 × cmp | not known"},
		{line{measured: 3}, "3 s |  |  |  | "},
		{line{budget: 2, absent: "not built"}, " |  |  | ≤ 2 s | missed: not built"},
	} {
		if got := at(c.l); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if v := costOf("Keep, first                                0.125 s   0.91\n", "Keep, first"); v != 0.125 {
		t.Errorf("got %v", v)
	}
	calls := "BenchmarkCalls/same/absolute/recorded=true-2   5   102556353 ns/op   7.414 cpu-us/call\n"
	if v := microseconds(calls, "Calls/same/absolute/recorded=true"); v != 7.414 {
		t.Errorf("got %v", v)
	}
	if v := microseconds(calls, "Calls/differ"); v != 0 {
		t.Errorf("got %v", v)
	}
	if v, ok := nanoseconds("BenchmarkX-2   5   1500000000 ns/op  3 skipped"); !ok || v != 1.5 {
		t.Errorf("got %v, %v", v, ok)
	}
	if _, ok := nanoseconds("ok"); ok {
		t.Error("a time is found in nothing")
	}
}
