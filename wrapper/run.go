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
	"time"

	"github.com/hashicorp/go-multierror"

	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/plan"
)

// A Runner runs one task to its end and writes the task's output to log. It returns
// nil if the task passed. The error holds an [ExitError] if a command failed, and a
// [ConfigError] if the data or the settings are wrong. A Runner must return soon
// after ctx ends. Several goroutines call Run at once.
type Runner interface {
	Run(ctx context.Context, task plan.Task, log io.Writer) error
}

// RunOptions are the settings of [Run]. The zero value works.
type RunOptions struct {
	// Jobs is the number of tasks that run at once. 0 means one per processor.
	Jobs int
	// Logs keeps the complete logs. If it is nil, only the tails are kept.
	Logs LogStore
	// Masker masks secrets in every log and result. It may get further secrets while tasks
	// run. If it is nil, nothing is masked.
	Masker *mask.Masker
	// Abandon is how long a Runner may go on after its context has ended. After
	// that it is left behind and its task gets a result. 0 means one minute.
	Abandon time.Duration
	// Observe is called with each event, one call at a time. It may be nil.
	Observe func(Event)
	// Finish is called with each result before Observe, and may add to it. Several
	// goroutines call Finish at once. It may be nil.
	Finish func(plan.Task, *plan.Result)

	// Transient returns additional patterns for a task. An error line that matches
	// one of them is transient, as one that matches a built-in pattern. It may be nil.
	Transient func(plan.Task) []*regexp.Regexp
	// Backoff returns the pause before the second attempt of a task that has the
	// given timeout. If it is nil, the pause is five seconds, or the timeout if
	// that is shorter, plus or minus a random part of at most one half.
	Backoff func(timeout time.Duration) time.Duration
	// Memory is the number of bytes that the running tasks may need together,
	// by the Memory field of each task. A task that needs more runs when no other
	// task has reserved memory. 0 means no limit.
	Memory int64
	// Before holds results of an earlier call of Run, by task id. A task in it gets
	// exactly one more attempt, with a log of its own. Its new result also lists
	// the earlier attempts.
	Before map[string]plan.Result
	// Began is the time from which the start of each attempt is counted. Zero means
	// now.
	Began time.Time
	// FailFast starts no more tasks after the first result that fails the check.
	// The tasks that have not started get the status canceled.
	FailFast bool
	// Settle is called for each task that failed, if FailFast is set. It returns
	// the final result, for example after it ran the task on base. The task keeps
	// its slot and its targets during the call. Several goroutines call Settle at
	// once. It may be nil.
	Settle func(context.Context, plan.Task, plan.Result) plan.Result
	// Targets returns the targets that a task uses. The task waits until all of
	// them are free. It may be nil.
	Targets func(plan.Task) []Target
	// Lease leases targets against other processes. If it is nil, the limits of a
	// target hold within this process only.
	Lease Lease
}

// An Event reports that a task starts, has ended, or waits for a target. A task that
// starts has neither Result nor WaitsFor.
type Event struct {
	Task     plan.Task
	Result   *plan.Result // set if the task has ended
	WaitsFor string       // name of the target that the task waits for while a slot is free
	LogLost  bool         // the task has ended and its log could not be kept; the failure may not be the task's fault
}

// Run runs the tasks and returns one result per task, in the order of the tasks. A
// failed task is no error: the error reports logs that could not be kept. The results
// are complete even if there is an error.
func Run(ctx context.Context, tasks []plan.Task, r Runner, opts RunOptions) ([]plan.Result, error) {
	if opts.Jobs <= 0 {
		opts.Jobs = runtime.GOMAXPROCS(0)
	}
	if opts.Abandon <= 0 {
		opts.Abandon = time.Minute
	}
	if opts.Masker == nil {
		opts.Masker = mask.New(nil)
	}
	if opts.Began.IsZero() {
		opts.Began = time.Now()
	}
	d := &dispatcher{
		executor: &executor{
			runner: r, opts: opts, masker: opts.Masker,
			isRunCanceled: func() bool { return ctx.Err() != nil },
		},
		tasks: tasks, targets: targetsByTask(tasks, opts.Targets), memory: newMemoryBudget(opts.Memory), freeSlots: opts.Jobs,
		results: make([]plan.Result, len(tasks)), logErrors: make([]error, len(tasks)),
		events: make(chan func()), pendingLeases: map[int]context.CancelFunc{}, blockedSince: map[int]time.Time{},
	}
	for _, group := range Groups(tasks) {
		d.runGroup(ctx, group)
	}
	return d.results, joinLogErrors(tasks, d.logErrors)
}

// joinLogErrors returns one error for all logs that could not be kept, nil if there
// are none.
func joinLogErrors(tasks []plan.Task, logErrors []error) error {
	var errs *multierror.Error
	for i, err := range logErrors {
		if err != nil {
			errs = multierror.Append(errs, fmt.Errorf("log of task %q: %w", tasks[i].ID, err))
		}
	}
	if errs != nil {
		errs.ErrorFormat = joinLines
	}
	return errs.ErrorOrNil()
}

// Groups returns the indices of the tasks in groups of equal order, lowest order first, as
// [Run] starts them. Within a group the longest estimate comes first.
func Groups(tasks []plan.Task) [][]int {
	indices := make([]int, len(tasks))
	for i := range indices {
		indices[i] = i
	}
	slices.SortStableFunc(indices, func(a, b int) int {
		return cmp.Or(
			cmp.Compare(tasks[a].Order, tasks[b].Order),
			cmp.Compare(worstEstimate(tasks[b]), worstEstimate(tasks[a])))
	})
	var groups [][]int
	for from, to := 0, 1; to <= len(indices); to++ {
		if to == len(indices) || tasks[indices[to]].Order != tasks[indices[from]].Order {
			groups = append(groups, indices[from:to])
			from = to
		}
	}
	return groups
}

// worstEstimate returns how many seconds a task takes if it takes long. The task that
// ends last decides when the run ends.
func worstEstimate(t plan.Task) float64 { return max(t.EstimateSeconds, t.EstimateP90) }

// joinLines formats errors with one error per line.
func joinLines(errs []error) string {
	lines := make([]string, len(errs))
	for i, err := range errs {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}
