package progress

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/app-sre/prcheck/plan"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// statusOf returns the status of a run of so many tasks, 90 seconds after its start. The
// named tasks are running; each started a second after the one before.
func statusOf(total int, names ...string) *runStatus {
	var all []plan.Task
	for i := range total {
		t := plan.Task{ID: fmt.Sprint("task", i), EstimateSeconds: 100}
		if i < len(names) {
			t.ID = names[i]
		}
		all = append(all, t)
	}
	s := newRunStatus(all, 4, noon)
	for i := range names {
		s.now = noon.Add(time.Duration(i) * time.Second)
		s.addRunning(all[i])
	}
	s.now = noon.Add(90 * time.Second)
	return &s
}

func TestFrame(t *testing.T) {
	three := []string{"terraform-users/app-sre", "ldap-groups", "名前-integration"}
	stopping := statusOf(3, three...)
	stopping.isStopping = true
	stopping.addResult(plan.Task{ID: three[0]}, &plan.Result{Status: plan.Canceled})
	unknown := newRunStatus([]plan.Task{{ID: "a"}, {ID: "b"}}, 1, noon)
	unknown.addRunning(plan.Task{ID: "a"})
	unknown.now = noon.Add(4 * time.Second)
	failing := statusOf(40, three...)
	for i := 10; i < 40; i++ {
		failing.addResult(plan.Task{ID: fmt.Sprint("task", i)},
			&plan.Result{Status: []plan.Status{plan.Passed, plan.Failed, plan.TimedOut}[i%3], Seconds: 1})
	}
	for _, tt := range []struct {
		name          string
		status        *runStatus
		columns, rows int
		want          string
	}{
		{"wide", statusOf(40, three...), 100, 24, `
  terraform-users/app-sre  1m30s of ~1m40s
  ldap-groups              1m29s of ~1m40s
  名前-integration         1m28s of ~1m40s
[                                      ]  0/40  1m30s  about 15m33s left
`},
		{"failing", failing, 100, 24, `
  terraform-users/app-sre  1m30s of ~1m40s
  ldap-groups              1m29s of ~1m40s
  名前-integration         1m28s of ~1m40s
[============================>         ]  30/40  1m30s  about 3m03s left  10 failed, 10 timed out
`},
		{"narrow", failing, 40, 24, `
  terraform-users/app…  1m30s of ~1m40s
  ldap-groups           1m29s of ~1m40s
  名前-integration      1m28s of ~1m40s
30/40  1m30s  about 3m03s left  10 fai…
`},
		{"very narrow", failing, 12, 24, `
  terrafor…
  ldap-gro…
  名前-int…
30/40  1m3…
`},
		{"no room", failing, 1, 24, "\n…\n…\n…\n…\n"},
		{"low", failing, 60, 5, `
  terraform-users/app-sre  1m30s of ~1m40s
  and 2 more
30/40  1m30s  about 3m03s left  10 failed, 10 timed out
`},
		{"lower", failing, 60, 4, "\n  and 3 more\n30/40  1m30s  about 3m03s left  10 failed, 10 timed out\n"},
		{"the lowest", failing, 60, 3, "\n30/40  1m30s  about 3m03s left  10 failed, 10 timed out\n"},
		{"stopping", stopping, 60, 24, `
  ldap-groups       1m29s of ~1m40s
  名前-integration  1m28s of ~1m40s
[=======>               ]  1/3  1m30s  stopping  1 canceled
`},
		{"nothing known", &unknown, 40, 24, `
  a  4s
[                            ]  0/2  4s
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lines := frame(tt.status, tt.columns, tt.rows)
			if got, want := strings.Join(lines, "\n")+"\n", tt.want[1:]; got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// On a terminal of any size no line is folded and the screen does not scroll.
func TestFrameFits(t *testing.T) {
	names := make([]string, 60)
	for i := range names {
		names[i] = strings.Repeat([]string{"x", "名", "e\u0301", "\x1b[2J", "\t", "👩‍👩‍👧"}[i%6], i+1) + fmt.Sprint(i)
	}
	s := statusOf(500, names...)
	for _, columns := range []int{1, 2, 3, 5, 8, 13, 21, 34, 40, 55, 80, 89, 144, 233} {
		for _, rows := range []int{0, 1, 2, 3, 10, 300} {
			lines := frame(s, columns, rows)
			if len(lines) > max(1, rows-2) {
				t.Fatalf("%d lines on %d rows", len(lines), rows)
			}
			for _, line := range lines {
				if width := runewidth.StringWidth(line); width >= max(2, columns) || strings.ContainsAny(line, "\x1b\n\t") {
					t.Fatalf("%q takes %d of %d columns", line, width, columns)
				}
			}
		}
	}
}

func TestRemaining(t *testing.T) {
	for _, tt := range []struct {
		name      string
		estimates []float64
		jobs      int
		want      time.Duration
	}{
		{"shared by the jobs", []float64{10, 10, 10, 10}, 2, 20 * time.Second},
		{"not less than the longest", []float64{60, 1, 1, 1}, 4, time.Minute},
		{"something is unknown", []float64{60, 0}, 1, 0},
		{"nothing is left", nil, 1, 0},
		{"no jobs", []float64{10}, 0, 10 * time.Second},
		{"nonsense", []float64{math.NaN(), -5}, 1, 0},
		{"endless", []float64{math.Inf(1), math.MaxFloat64}, 1, 2 * maxEstimate},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var all []plan.Task
			for i, e := range tt.estimates {
				all = append(all, plan.Task{ID: fmt.Sprint(i), EstimateSeconds: e})
			}
			s := newRunStatus(all, tt.jobs, noon)
			if got := s.remaining(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	s := newRunStatus([]plan.Task{{ID: "a"}, {ID: "b"}, {ID: "c"}}, 1, noon)
	s.addResult(plan.Task{ID: "a"}, &plan.Result{Status: plan.Passed, Seconds: 8, Attempts: 1})
	if got := s.remaining(); got != 16*time.Second {
		t.Errorf("after one of 8s: got %s, want 16s", got)
	}
}
