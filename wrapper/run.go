package wrapper

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-multierror"

	"github.com/app-sre/prcheck/plan"
)

// A Runner runs one task to its end and writes all it says to log. It returns
// nil when the task passed, an error with an [ExitError] or a [ConfigError] in it
// when that is what happened, and returns soon after ctx ends.
type Runner interface {
	Run(ctx context.Context, task plan.Task, log io.Writer) error
}

// Options are the settings of [Run]. The zero value works.
type Options struct {
	Jobs    int           // how many tasks run at once; 0 means one per processor
	Logs    LogStore      // where complete logs go; nil keeps only the tails
	Secrets []string      // what must not appear in a log or a result
	Abandon time.Duration // how long a Runner may ignore the end of its context; 0 means one minute
	Observe func(Event)   // told about progress, one event at a time; may be nil

	// Transient gives the patterns that mark an error of a task as one that
	// passes by itself, beside those that are built in; may be nil.
	Transient func(plan.Task) []*regexp.Regexp
	// Backoff gives the pause before a second attempt of a task with this
	// timeout; nil means five seconds, or the timeout when it is shorter, give
	// or take a random half.
	Backoff func(timeout time.Duration) time.Duration
	// Memory is how many bytes all tasks that run at once may need together, as
	// they say; one that needs more runs alone. 0 means no limit.
	Memory int64
	// Before gives the results of tasks that ran before, by task. Such a task gets
	// one attempt more, with a log of its own, and its result tells of all.
	Before map[string]plan.Result
	// Began is when the run began, for the times of attempts; zero means now.
	Began time.Time
	// FailFast starts nothing more after the first result that fails the check;
	// the tasks that did not start are canceled.
	FailFast bool
	// Settle is asked with FailFast of each task that failed, and returns its
	// result with what more can be found out. The task keeps its slot and its
	// targets meanwhile. It may be called by several goroutines at once; may be nil.
	Settle func(context.Context, plan.Task, plan.Result) plan.Result
	// Targets gives what a task shares with others, which then wait for it; may
	// be nil.
	Targets func(plan.Task) []Target
	// Lease holds these targets against other processes; nil: only this one
	// counts.
	Lease Lease
}

// An Event says that a task starts, has ended, or waits for a target.
type Event struct {
	Task   plan.Task
	Result *plan.Result // nil unless it has ended
	Waits  string       // the target that it waits for, although there is a slot
	Lost   bool         // it has ended, and its log could not be kept: the result may not be the task's fault
}

// Run runs the tasks and returns one result for each, in the order of the tasks.
// The error is about the wrapper's own trouble, such as a log that cannot be
// written; the results are complete all the same. A red task is no error.
func Run(ctx context.Context, tasks []plan.Task, r Runner, opts Options) ([]plan.Result, error) {
	if opts.Jobs <= 0 {
		opts.Jobs = runtime.GOMAXPROCS(0)
	}
	if opts.Abandon <= 0 {
		opts.Abandon = time.Minute
	}
	if opts.Began.IsZero() {
		opts.Began = time.Now()
	}
	d := &dispatcher{
		one:   &single{runner: r, opts: opts, masker: newMasker(opts.Secrets), stopped: func() bool { return ctx.Err() != nil }},
		tasks: tasks, uses: targets(tasks, opts.Targets), room: newRoom(opts.Memory), free: opts.Jobs,
		results: make([]plan.Result, len(tasks)), troubles: make([]error, len(tasks)),
		events: make(chan func()), asking: map[int]context.CancelFunc{}, held: map[int]time.Time{},
	}
	for _, group := range groups(tasks) {
		d.group(ctx, group)
	}
	return d.results, joined(tasks, d.troubles)
}

// joined are the troubles with the logs of tasks.
func joined(tasks []plan.Task, troubles []error) error {
	var errs *multierror.Error
	for i, err := range troubles {
		if err != nil {
			errs = multierror.Append(errs, fmt.Errorf("log of task %q: %w", tasks[i].ID, err))
		}
	}
	if errs != nil {
		errs.ErrorFormat = joinLines
	}
	return errs.ErrorOrNil()
}

// groups returns the indices of the tasks: one list per order, ascending, and in
// it the longest estimate first.
func groups(tasks []plan.Task) [][]int {
	indices := make([]int, len(tasks))
	for i := range indices {
		indices[i] = i
	}
	slices.SortStableFunc(indices, func(a, b int) int {
		return cmp.Or(
			cmp.Compare(tasks[a].Order, tasks[b].Order),
			cmp.Compare(longest(tasks[b]), longest(tasks[a])))
	})
	var all [][]int
	for from, to := 0, 1; to <= len(indices); to++ {
		if to == len(indices) || tasks[indices[to]].Order != tasks[indices[from]].Order {
			all = append(all, indices[from:to])
			from = to
		}
	}
	return all
}

// longest is how long a task takes when it takes long: what ends last decides
// when all is done.
func longest(t plan.Task) float64 { return max(t.EstimateSeconds, t.EstimateP90) }

// joinLines formats many errors, one per line.
func joinLines(errs []error) string {
	lines := make([]string, len(errs))
	for i, err := range errs {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// observer serialises events.
type observer struct {
	mu sync.Mutex
}

func (o *observer) tell(observe func(Event), event Event) {
	if observe == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	observe(event)
}
