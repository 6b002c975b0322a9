package progress

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/plan"
)

// A runStatus is what is known about a run at one moment. Displays show it.
type runStatus struct {
	began, now time.Time
	total      int // tasks
	jobs       int // how many tasks run at once
	isStopping bool

	unstarted map[string]time.Duration // estimates of the tasks that have not started, 0 if unknown
	waiting   map[string]string        // the live target that a task waits for, by task
	running   []runningTask            // in the order of their starts
	counts    map[plan.Status]int      // tasks that ended, by status
	totalTime time.Duration            // of all tasks that passed or failed
}

// A runningTask is a task that has started and has not ended.
type runningTask struct {
	id       string
	began    time.Time
	estimate time.Duration // 0 if unknown
}

func newRunStatus(tasks []plan.Task, jobs int, now time.Time) runStatus {
	s := runStatus{
		began: now, now: now, total: len(tasks), jobs: max(1, jobs),
		unstarted: map[string]time.Duration{}, waiting: map[string]string{}, counts: map[plan.Status]int{},
	}
	for _, t := range tasks {
		s.unstarted[t.ID] = estimateOf(t)
	}
	return s
}

// maxEstimate bounds an estimate, so that a sum of estimates cannot overflow.
const maxEstimate = 1000 * time.Hour

// estimateOf returns how long a task is expected to run, 0 if nothing is known.
func estimateOf(t plan.Task) time.Duration {
	if !(t.EstimateSeconds > 0) { // also true for NaN
		return 0
	}
	return time.Duration(min(t.EstimateSeconds, maxEstimate.Seconds()) * float64(time.Second))
}

// addWaiting notes that a task waits for a live target.
func (s *runStatus) addWaiting(t plan.Task, target string) { s.waiting[t.ID] = target }

// addRunning notes that a task has started.
func (s *runStatus) addRunning(t plan.Task) {
	delete(s.unstarted, t.ID)
	delete(s.waiting, t.ID)
	s.running = append(s.running, runningTask{t.ID, s.now, estimateOf(t)})
}

// addResult notes that a task has ended.
func (s *runStatus) addResult(t plan.Task, r *plan.Result) {
	delete(s.unstarted, t.ID)
	delete(s.waiting, t.ID)
	s.running = slices.DeleteFunc(s.running, func(o runningTask) bool { return o.id == t.ID })
	s.counts[r.Status]++
	if r.Status == plan.Passed || r.Status == plan.Failed {
		s.totalTime += durationOf(r)
	}
}

// isUnstarted reports whether a task was canceled before it started. Displays show no
// line for such a task: there may be hundreds of them, and the report names them.
func isUnstarted(r *plan.Result) bool { return r.Status == plan.Canceled && r.Attempts == 0 }

// durationOf returns how long a task took.
func durationOf(r *plan.Result) time.Duration {
	return time.Duration(r.Seconds * float64(time.Second))
}

// elapsed returns the time since the start of the run.
func (s *runStatus) elapsed() time.Duration { return s.now.Sub(s.began) }

// ended returns how many tasks have ended.
func (s *runStatus) ended() int {
	n := 0
	for _, count := range s.counts {
		n += count
	}
	return n
}

// oldestFirst returns the running tasks. The task that runs longest is the first.
func (s *runStatus) oldestFirst() []runningTask {
	return slices.SortedStableFunc(slices.Values(s.running), func(a, b runningTask) int {
		return cmp.Or(a.began.Compare(b.began), strings.Compare(a.id, b.id))
	})
}

// remaining estimates how long the rest of the run takes: the remaining time of all tasks
// divided by the number of jobs, but at least the remaining time of the longest task. A
// task without an estimate counts as an average task of those that have ended. The result is 0
// if there is nothing to base an estimate on.
func (s *runStatus) remaining() time.Duration {
	average := time.Duration(0)
	if n := s.counts[plan.Passed] + s.counts[plan.Failed]; n > 0 {
		average = s.totalTime / time.Duration(n)
	}
	var total, longest time.Duration
	isKnown := true
	add := func(estimate, elapsed time.Duration) {
		if estimate == 0 {
			estimate = average
			isKnown = isKnown && average > 0
		}
		left := max(0, estimate-elapsed)
		total, longest = total+left, max(longest, left)
	}
	for _, estimate := range s.unstarted {
		add(estimate, 0)
	}
	for _, r := range s.running {
		add(r.estimate, s.now.Sub(r.began))
	}
	if !isKnown || s.isStopping {
		return 0
	}
	return max(longest, total/time.Duration(s.jobs))
}
