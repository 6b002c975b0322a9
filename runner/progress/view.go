package progress

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
)

// A view is all that there is to tell.
type view struct {
	began, now time.Time
	total      int
	jobs       int
	stopping   bool

	waiting map[string]time.Duration // tasks that did not start, with their estimates, 0 when unknown
	queued  map[string]string        // tasks that wait for a target, with its name
	running []running                // in the order of their starts
	counts  map[plan.Status]int
	took    time.Duration // of all that ran to their end, together
}

// A running task.
type running struct {
	id       string
	began    time.Time
	estimate time.Duration // 0 when unknown
}

func newView(tasks []plan.Task, jobs int, now time.Time) view {
	v := view{began: now, now: now, total: len(tasks), jobs: max(1, jobs), waiting: map[string]time.Duration{}, queued: map[string]string{}, counts: map[plan.Status]int{}}
	for _, t := range tasks {
		v.waiting[t.ID] = estimate(t)
	}
	return v
}

// longest bounds estimates, so that sums of them make sense.
const longest = 1000 * time.Hour

func estimate(t plan.Task) time.Duration {
	if !(t.EstimateSeconds > 0) { // not a number, too
		return 0
	}
	return time.Duration(min(t.EstimateSeconds, longest.Seconds()) * float64(time.Second))
}

func (v *view) wait(t plan.Task, target string) { v.queued[t.ID] = target }

func (v *view) start(t plan.Task) {
	delete(v.waiting, t.ID)
	delete(v.queued, t.ID)
	v.running = append(v.running, running{t.ID, v.now, estimate(t)})
}

func (v *view) end(t plan.Task, r *plan.Result) {
	delete(v.waiting, t.ID)
	delete(v.queued, t.ID)
	v.running = slices.DeleteFunc(v.running, func(o running) bool { return o.id == t.ID })
	v.counts[r.Status]++
	if r.Status == plan.Passed || r.Status == plan.Failed {
		v.took += took(r)
	}
}

// unstarted tells whether a task was canceled before it started. There may be
// hundreds, and the report names them.
func unstarted(r *plan.Result) bool { return r.Status == plan.Canceled && r.Attempts == 0 }

func took(r *plan.Result) time.Duration { return time.Duration(r.Seconds * float64(time.Second)) }

func (v *view) elapsed() time.Duration { return v.now.Sub(v.began) }

func (v *view) done() int {
	n := 0
	for _, c := range v.counts {
		n += c
	}
	return n
}

// oldest returns the running tasks, the one that runs for longest first.
func (v *view) oldest() []running {
	return slices.SortedStableFunc(slices.Values(v.running), func(a, b running) int {
		return cmp.Or(a.began.Compare(b.began), strings.Compare(a.id, b.id))
	})
}

// remaining estimates how long the rest takes: all that is left, shared by the
// jobs, and not less than the task that needs longest. A task without an
// estimate counts as an average one of those that have ended. It is 0 when
// nothing can be said.
func (v *view) remaining() time.Duration {
	usual := time.Duration(0)
	if n := v.counts[plan.Passed] + v.counts[plan.Failed]; n > 0 {
		usual = v.took / time.Duration(n)
	}
	var all, most time.Duration
	known := true
	add := func(estimate, ran time.Duration) {
		if estimate == 0 {
			estimate = usual
			known = known && usual > 0
		}
		left := max(0, estimate-ran)
		all, most = all+left, max(most, left)
	}
	for _, estimate := range v.waiting {
		add(estimate, 0)
	}
	for _, r := range v.running {
		add(r.estimate, v.now.Sub(r.began))
	}
	if !known || v.stopping {
		return 0
	}
	return max(most, all/time.Duration(v.jobs))
}

// bad counts what did not pass: "1 failed, 2 canceled", or nothing.
func (v *view) bad() string {
	var parts []string
	for _, s := range []plan.Status{plan.Failed, plan.TimedOut, plan.Canceled, plan.NotRun} {
		if n := v.counts[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, word(s)))
		}
	}
	return strings.Join(parts, ", ")
}

// queues tells how many tasks wait for targets: "3 wait for aws/app-sre", or
// nothing.
func (v *view) queues() string {
	count := map[string]int{}
	for _, target := range v.queued {
		count[target]++
	}
	most := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(count[b]-count[a], strings.Compare(a, b))
	})
	var parts []string
	for i, target := range most {
		if i == named {
			parts = append(parts, fmt.Sprintf("and for %d more", len(most)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%d for %s", count[target], name(target)))
	}
	if len(parts) == 0 {
		return ""
	}
	return "waiting: " + strings.Join(parts, ", ")
}

func word(s plan.Status) string { return strings.ReplaceAll(string(s), "_", " ") }

// sentence tells how a task ended.
func sentence(t plan.Task, r *plan.Result) string {
	text := fmt.Sprintf("%s %s", word(r.Status), name(t.ID))
	if r.Attempts > 0 {
		text += " in " + seconds(took(r))
	}
	if r.Reason != "" && r.Reason != word(r.Status) {
		text += ": " + sanitize.Line(r.Reason)
	}
	return text
}

// longestName bounds the names of tasks, in characters.
const longestName = 120

// name is the name of a task as people see it.
func name(id string) string {
	id = sanitize.Line(id)
	if r := []rune(id); len(r) > longestName {
		id = string(r[:longestName-1]) + "…"
	}
	return id
}

// seconds is a duration to a tenth of a second: 4.1s, 2m03s.
func seconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return short(d)
}

// short is a duration in whole seconds: 12s, 2m03s, 1h02m.
func short(d time.Duration) string {
	s := int(d.Round(time.Second).Seconds())
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	}
	return fmt.Sprintf("%dh%02dm", s/3600, s%3600/60)
}
