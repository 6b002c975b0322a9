//go:build unix

package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
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
	if err := measure(t.Context(), &out, &notes, options{files: 60, runs: 1, integrations: 7}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"plan of two revisions, 60 datafiles, warm", "the same, 300 datafiles ", "nothing cached", "plan of the working tree", "precheck with 7 tasks",
		"diff of two bundles", "index remembered", "--state, 7 integrations", "private memory", "server, 60 datafiles", "the most memory of the process",
	} {
		_, rest, ok := strings.Cut(out.String(), path)
		if row, _, _ := strings.Cut(rest, "\n"); !ok || !strings.Contains(row, " met") && !strings.Contains(row, " missed") && !strings.Contains(row, "not known") {
			t.Errorf("got\n%s\nwant a verdict about %q", &out, path)
		}
	}
	out.Reset()
	if err := measure(t.Context(), &out, &notes, options{growth: []int{40}, runs: 1, integrations: 7}); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); len(lines) != 4 || len(strings.Fields(lines[3])) != 8 {
		t.Errorf("got\n%s", &out)
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
		{line{measured: 3, peers: []peer{{"cmp", 1}, {"Node", 0}}, ratioTo: "cmp", budget: 2}, "3 s | cmp 1, Node not installed | 3.0 × cmp | ≤ 2 × cmp | missed"},
		{line{measured: 3, peers: []peer{{"cmp", 0}}, ratioTo: "cmp", budget: 2}, "3 s | cmp not installed |  | ≤ 2 × cmp | not known"},
		{line{measured: 3}, "3 s |  |  |  | "},
	} {
		if got := at(c.l); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if v, ok := nanoseconds("BenchmarkX-2   5   1500000000 ns/op  3 skipped"); !ok || v != 1.5 {
		t.Errorf("got %v, %v", v, ok)
	}
	if _, ok := nanoseconds("ok"); ok {
		t.Error("a time is found in nothing")
	}
}
