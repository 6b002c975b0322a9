package wrapper

import (
	"context"
	"time"

	"github.com/app-sre/prcheck/plan"
)

// A Target is a live system that several tasks use, such as an AWS account, with the
// load it may bear. All tasks that use a target must give the same limits for it.
type Target struct {
	Name string        // any text, such as "aws/app-sre"
	Max  int           // the number of tasks that may use it at once; 0 means any number
	Rate int           // the number of tasks that may start in each period Per; 0 means any number
	Per  time.Duration // the length of the period of Rate
}

// A Lease reserves targets against other processes. It waits until the targets have
// room, calls do once and gives the targets back when do has returned. If the lease is
// lost during do, the context of do ends with a cause. A Lease may return without
// calling do: when ctx ends, or when it cannot reach the other processes. The task
// then runs under the limits of this process only.
type Lease func(ctx context.Context, targets []Target, do func(context.Context))

// maxTransientFailures is the number of tasks that must fail in a row at a target, for
// transient reasons, until the target counts as unavailable. Each of these tasks had
// two attempts.
const maxTransientFailures = 3

// A target is the state of a Target in this process.
type target struct {
	Target
	tasksInUse        int         // tasks that use the target or wait for its lease
	recentStarts      []time.Time // times of the last starts, at most Rate
	leasePending      bool        // a task waits for a lease that contains this target
	transientFailures int         // tasks in a row that failed for transient reasons
}

// targetsByTask returns the targets of each task. A blocked task never starts and so
// has no targets.
func targetsByTask(tasks []plan.Task, targetsOf func(plan.Task) []Target) [][]*target {
	byTask := make([][]*target, len(tasks))
	if targetsOf == nil {
		return byTask
	}
	byName := map[string]*target{}
	for i, task := range tasks {
		if task.Blocked != "" {
			continue
		}
		seen := map[string]bool{}
		for _, t := range targetsOf(task) {
			if seen[t.Name] {
				continue
			}
			seen[t.Name] = true
			if byName[t.Name] == nil {
				byName[t.Name] = &target{Target: t}
			}
			byTask[i] = append(byTask[i], byName[t.Name])
		}
	}
	return byTask
}

// isFull reports whether no further task can start at the target now. The wait is the
// time until its rate allows the next start, and 0 if that time is unknown.
func (t *target) isFull(now time.Time) (full bool, wait time.Duration) {
	if t.leasePending || t.Max > 0 && t.tasksInUse >= t.Max {
		return true, 0
	}
	if t.Rate > 0 && len(t.recentStarts) == t.Rate {
		wait = t.recentStarts[0].Add(t.Per).Sub(now)
	}
	return wait > 0, wait
}

// recordStart notes that a task starts at the target.
func (t *target) recordStart(now time.Time) {
	t.leasePending = false
	if t.Rate == 0 {
		return
	}
	if len(t.recentStarts) == t.Rate {
		t.recentStarts = t.recentStarts[1:]
	}
	t.recentStarts = append(t.recentStarts, now)
}

// recordResult counts how many tasks in a row failed for transient reasons. A task
// that was canceled or did not run is not counted.
func (t *target) recordResult(r plan.Result) {
	switch {
	case r.Status == plan.TimedOut, r.Status == plan.Failed && r.Class == plan.ClassTransient:
		t.transientFailures++
	case r.Status == plan.Passed || r.Status == plan.Failed:
		t.transientFailures = 0
	}
}

// isUnavailable reports whether the tasks that wait for the target are not to be run.
func (t *target) isUnavailable() bool { return t.transientFailures >= maxTransientFailures }
