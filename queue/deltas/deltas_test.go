package deltas_test

import (
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/queue"
	"github.com/app-sre/prcheck/queue/deltas"
	"github.com/app-sre/prcheck/state/statetest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func tree(digit string) string { return strings.Repeat(digit, 40) }

// states says how the runs of tasks a to e stand, and which labels are needed.
func states(t *testing.T, s deltas.Store, p deltas.Trees, now time.Time) string {
	t.Helper()
	var tasks []queue.PlannedTask
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		tasks = append(tasks, queue.PlannedTask{Name: name, Inputs: "of " + name})
	}
	tasks[3].Inputs, tasks[4].Inputs = "others", ""
	labels := s.Fill(t.Context(), p, tasks, now)
	out := ""
	for _, task := range tasks {
		out += map[queue.RunState]string{queue.NotStarted: "-", queue.Started: "s", queue.RunPassed: "p",
			queue.RunFailed: "f"}[task.Run]
	}
	return strings.TrimSpace(out + " " + strings.Join(labels, ","))
}

// A run counts for its pair alone, for tasks with the very same inputs, and for a time.
func TestRuns(t *testing.T) {
	memory := statetest.NewMemory()
	s := deltas.NewStore(memory)
	pair := deltas.Trees{Base: tree("a"), Head: tree("b")}
	if got := states(t, s, pair, noon); got != "-----" {
		t.Errorf("nothing is remembered: got %s", got)
	}
	tasks := []deltas.Task{{Name: "a", Inputs: "of a"}, {Name: "b", Inputs: "of b"}, {Name: "c", Inputs: "of c"},
		{Name: "d", Inputs: "of d"}}
	if err := s.Begin(t.Context(), pair, tasks, noon); err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration]string{0: "sss--", deltas.Started: "sss--", deltas.Started + 1: "-----",
		-time.Hour: "-----"} {
		if got := states(t, s, pair, noon.Add(after)); got != want {
			t.Errorf("%s after it began: got %s, want %s", after, got, want)
		}
	}
	tasks[0].Outcome, tasks[1].Outcome, tasks[2].Outcome = deltas.Passed, deltas.Failed, deltas.Again
	tasks[3].Outcome = deltas.Passed
	end := deltas.Run{Tasks: tasks, Labels: []string{"deletes"}, Began: noon, Ended: noon.Add(10 * time.Minute)}
	if err := s.End(t.Context(), pair, end); err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration]string{10 * time.Minute: "pf--- deletes", deltas.Ended: "pf--- deletes",
		deltas.Ended + 1: "-----", 0: "-----"} {
		if got := states(t, s, pair, noon.Add(after)); got != want {
			t.Errorf("%s after it began: got %s, want %s", after, got, want)
		}
	}
	for _, other := range []deltas.Trees{{Base: tree("b"), Head: tree("a")}, {Base: tree("a"), Head: tree("c")},
		{Base: tree("a"), Head: "main"}, {}} {
		if got := states(t, s, other, noon.Add(10*time.Minute)); got != "-----" {
			t.Errorf("%v: got %s", other, got)
		}
	}
}

// A document that is damaged, or of another pair, says nothing. A pair that is not one of trees is not remembered.
func TestBadRuns(t *testing.T) {
	memory := statetest.NewMemory()
	s := deltas.NewStore(memory)
	pair := deltas.Trees{Base: tree("a"), Head: tree("b")}
	good := deltas.Run{Tasks: []deltas.Task{{Name: "a", Inputs: "of a", Outcome: deltas.Passed}}, Began: noon, Ended: noon}
	if err := s.End(t.Context(), pair, good); err != nil {
		t.Fatal(err)
	}
	entries, err := memory.List(t.Context(), "merge-queue/deltas")
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	raw, err := memory.Read(t.Context(), entries[0].Key)
	if err != nil {
		t.Fatal(err)
	}
	if got := states(t, s, pair, noon); got != "p----" {
		t.Fatalf("got %s", got)
	}
	for _, change := range []string{`"passed"|"perfect"`, tree("a") + "|" + tree("c"), `delta/v1|delta/v2`, `}]|`,
		`"of a"|""`, `"began"|"begun"`} {
		from, to, _ := strings.Cut(change, "|")
		if err := memory.Write(t.Context(), entries[0].Key, []byte(strings.ReplaceAll(string(raw), from, to))); err != nil {
			t.Fatal(err)
		}
		if got := states(t, s, pair, noon); got != "-----" {
			t.Errorf("%s: got %s", change, got)
		}
	}
	if err := s.End(t.Context(), deltas.Trees{Base: "main", Head: tree("b")}, good); err == nil {
		t.Error("a pair of names is remembered")
	}
	good.Tasks[0].Outcome = "perfect"
	if err := s.End(t.Context(), pair, good); err == nil {
		t.Error("an outcome that nobody knows is remembered")
	}
}
