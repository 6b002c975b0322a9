package wrapper

import (
	"context"
	"time"

	"github.com/app-sre/prcheck/plan"
)

// A Target is something live that tasks share, such as an account, and what it
// bears. All tasks that use it give the same one.
type Target struct {
	Name string        // such as aws/app-sre; any text
	Max  int           // so many tasks at once; 0: any number
	Rate int           // so many starts in each period of a length; 0: any number
	Per  time.Duration // that length
}

// A Lease holds targets against other processes. It waits until they have room,
// calls do once, and gives them back when do has returned. The context of do ends
// with a cause when they are lost. When it returns and did not call do, since ctx
// ended or since there is no way to tell others, only this process counts.
type Lease func(ctx context.Context, targets []Target, do func(context.Context))

// trips is how many tasks in a row must fail for reasons that pass by themselves
// until their target is taken for unavailable. Each of them had two attempts.
const trips = 3

// A target is what the tasks of this process do with a Target.
type target struct {
	Target
	using  int         // tasks that have a place
	starts []time.Time // the last ones, at most Rate
	asking bool        // a task asks other processes for room
	failed int         // tasks in a row
}

// targets returns what each task uses. One that cannot start uses nothing.
func targets(tasks []plan.Task, of func(plan.Task) []Target) [][]*target {
	uses := make([][]*target, len(tasks))
	if of == nil {
		return uses
	}
	known := map[string]*target{}
	for i, task := range tasks {
		if task.Blocked != "" {
			continue
		}
		own := map[string]bool{}
		for _, t := range of(task) {
			if own[t.Name] {
				continue
			}
			own[t.Name] = true
			if known[t.Name] == nil {
				known[t.Name] = &target{Target: t}
			}
			uses[i] = append(uses[i], known[t.Name])
		}
	}
	return uses
}

// full tells whether no task can start now, and when to look again if that is
// known.
func (t *target) full(now time.Time) (full bool, wait time.Duration) {
	if t.asking || t.Max > 0 && t.using >= t.Max {
		return true, 0
	}
	if t.Rate > 0 && len(t.starts) == t.Rate {
		wait = t.starts[0].Add(t.Per).Sub(now)
	}
	return wait > 0, wait
}

// start notes that a task starts.
func (t *target) start(now time.Time) {
	t.asking = false
	if t.Rate == 0 {
		return
	}
	if len(t.starts) == t.Rate {
		t.starts = t.starts[1:]
	}
	t.starts = append(t.starts, now)
}

// saw notes how a task ended. What was canceled tells nothing.
func (t *target) saw(r plan.Result) {
	switch {
	case r.Status == plan.TimedOut, r.Status == plan.Failed && r.Class == plan.ClassTransient:
		t.failed++
	case r.Status == plan.Passed || r.Status == plan.Failed:
		t.failed = 0
	}
}

func (t *target) unavailable() bool { return t.failed >= trips }
