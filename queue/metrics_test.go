package queue_test

import (
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/queue"
)

// The numbers of two rounds: what was merged is counted in all, what is open that of the last one.
func TestMetrics(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	row := func(class string, ago time.Duration, state queue.State, why queue.Why) queue.Row {
		since := at.Add(-ago)
		return queue.Row{Class: class, ApprovedAt: &since, Decision: queue.Decision{State: state,
			Reason: queue.Reason{Why: why}, Holding: []string{"a", "b"}, Delta: []string{"c"}}}
	}
	var m queue.Metrics
	m.Add(&queue.Table{Rows: []queue.Row{row("lgtm", 3*time.Minute, queue.Merged, queue.MergedByQueue)}}, at)
	m.Add(&queue.Table{Rows: []queue.Row{
		row("lgtm", 30*time.Minute, queue.Merged, queue.MergedByQueue),
		row("lgtm", 2*time.Hour, queue.Merged, queue.MergedByQueue),
		row("lgtm", 7*time.Minute, queue.Delta, queue.TasksToRun),
		row("bot/automerge", time.Minute, queue.Delta, queue.TasksToRun),
		{Decision: queue.Decision{State: queue.Waiting, Reason: queue.Reason{Why: queue.IsDraft}}},
	}, Starts: []queue.Start{{IsGuess: true}, {}}}, at)
	var b strings.Builder
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"rounds_total 2",
		`minutes_to_merge_bucket{class="lgtm",le="1"} 0`,
		`minutes_to_merge_bucket{class="lgtm",le="5"} 1`,
		`minutes_to_merge_bucket{class="lgtm",le="40"} 2`,
		`minutes_to_merge_bucket{class="lgtm",le="60"} 2`,
		`minutes_to_merge_bucket{class="lgtm",le="+Inf"} 3`,
		`minutes_to_merge_sum{class="lgtm"} 153`,
		`minutes_to_merge_count{class="lgtm"} 3`,
		`requests{state="delta",reason="tasks_to_run"} 2`,
		`requests{state="merged",reason="merged_by_queue"} 2`,
		`requests{state="waiting",reason="draft"} 1`,
		`waiting_minutes{class="lgtm"} 7`,
		`waiting_minutes{class="bot/automerge"} 1`,
		`tasks{kind="held"} 8`, `tasks{kind="delta"} 4`,
		`starts{guess="no"} 1`, `starts{guess="yes"} 1`,
	} {
		if !strings.Contains(b.String(), "\nprcheck_merge_queue_"+want+"\n") {
			t.Errorf("the numbers lack %s:\n%s", want, b.String())
		}
	}
}
