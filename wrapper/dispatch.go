package wrapper

import (
	"context"
	"slices"
	"time"

	"github.com/app-sre/prcheck/plan"
)

// A dispatcher starts each task as soon as a slot, enough memory and all targets of
// the task are free. Only the goroutine of runGroup changes its fields. Other
// goroutines send their changes to that goroutine as functions, through events.
type dispatcher struct {
	executor  *executor
	tasks     []plan.Task
	targets   [][]*target // by index of the task
	memory    memoryBudget
	results   []plan.Result
	logErrors []error
	freeSlots int
	events    chan func()

	readySince    time.Time                  // when the current group could have started
	waiting       []int                      // tasks that wait for a slot or a target, first come first
	pendingLeases map[int]context.CancelFunc // tasks that wait for their lease
	leased        []leasedTask               // tasks that have their lease and wait for a slot
	unfinished    int                        // tasks of the current group that have not ended
	blockedSince  map[int]time.Time          // when a task began to wait for a target while a slot was free
}

// A leasedTask is a task that has leased its targets and waits for a slot.
type leasedTask struct {
	task int
	turn chan slot
}

// A slot is the right of one task to run now, with the memory it reserved.
type slot struct {
	releaseMemory func()
	since         waitStart
}

// A waitStart says when a task was ready, and when it began to wait for a target.
type waitStart struct{ ready, blocked time.Time } // blocked is zero if it did not wait for one

// runGroup runs the tasks with the given indices and returns when all have ended.
func (d *dispatcher) runGroup(ctx context.Context, group []int) {
	d.waiting, d.unfinished, d.readySince = slices.Clone(group), len(group), time.Now()
	canceled := ctx.Done()
	for d.unfinished > 0 {
		timer := d.startTasks(ctx)
		if d.unfinished == 0 {
			return
		}
		select {
		case apply := <-d.events:
			apply()
		case <-timer:
		case <-canceled:
			canceled = nil
		}
	}
}

// startTasks starts every task that can start now. The returned channel fires when a
// target's rate allows the next start; it is nil if no task waits for that.
func (d *dispatcher) startTasks(ctx context.Context) <-chan time.Time {
	if ctx.Err() != nil || d.executor.opts.FailFast && d.executor.failed.Load() {
		d.cancelUnstarted(ctx)
		return nil
	}
	// Tasks with a lease come first, since others may wait for the targets they hold.
	for d.freeSlots > 0 && len(d.leased) > 0 {
		d.startLeased(ctx)
	}
	soonest := time.Duration(0)
	for k := 0; d.freeSlots > 0 && k < len(d.waiting); {
		i := d.waiting[k]
		blocking, wait := d.findBlockingTarget(i)
		if blocking != nil && !blocking.isUnavailable() {
			if wait > 0 && (soonest == 0 || wait < soonest) {
				soonest = wait
			}
			d.reportWaiting(i, blocking)
			k++
			continue
		}
		d.waiting = slices.Delete(d.waiting, k, k+1)
		if blocking != nil {
			d.results[i] = d.executor.skipUnavailable(d.tasks[i], blocking.Name)
			d.unfinished--
			continue
		}
		d.admit(ctx, i)
	}
	if soonest == 0 {
		return nil
	}
	return time.After(soonest)
}

// cancelUnstarted gives every task that has not started the result of a canceled task.
func (d *dispatcher) cancelUnstarted(ctx context.Context) {
	for _, i := range d.waiting {
		d.results[i], d.logErrors[i] = d.executor.execute(ctx, d.tasks[i], waitStart{ready: d.readySince})
		d.unfinished--
	}
	d.waiting = nil
	for _, cancel := range d.pendingLeases {
		cancel()
	}
	for len(d.leased) > 0 {
		d.startLeased(ctx)
	}
}

// findBlockingTarget returns a target that keeps task i from starting, nil if none
// does. An unavailable target comes first, then the one with the longest wait. The
// wait is 0 if the target becomes free at an unknown time.
func (d *dispatcher) findBlockingTarget(i int) (blocking *target, wait time.Duration) {
	now := time.Now()
	for _, t := range d.targets[i] {
		if t.isUnavailable() {
			return t, 0
		}
		if full, w := t.isFull(now); full && (blocking == nil || w > wait) {
			blocking, wait = t, w
		}
	}
	return blocking, wait
}

// reportWaiting reports, once per task, that a task waits for a target while a slot
// is free.
func (d *dispatcher) reportWaiting(i int, blocking *target) {
	if d.blockedSince[i].IsZero() {
		d.blockedSince[i] = time.Now()
		d.executor.notify(Event{Task: d.tasks[i], WaitsFor: blocking.Name})
	}
}

// admit takes the targets of task i and starts the task. If other processes use the
// targets too, it asks for a lease first.
func (d *dispatcher) admit(ctx context.Context, i int) {
	for _, t := range d.targets[i] {
		t.tasksInUse++
	}
	if len(d.targets[i]) > 0 && d.executor.opts.Lease != nil {
		d.requestLease(ctx, i)
		return
	}
	s := d.takeSlot(ctx, i)
	go func() {
		d.runInSlot(ctx, i, s)
		d.events <- func() { d.releaseTargets(i) }
	}()
}

// takeSlot takes a free slot and reserves the memory of task i.
func (d *dispatcher) takeSlot(ctx context.Context, i int) slot {
	d.freeSlots--
	release := d.memory.reserve(ctx, d.tasks[i].Memory)
	now := time.Now()
	for _, t := range d.targets[i] {
		t.recordStart(now)
	}
	return slot{release, waitStart{d.readySince, d.blockedSince[i]}}
}

// runInSlot runs task i, stores its result and gives the slot back.
func (d *dispatcher) runInSlot(ctx context.Context, i int, s slot) {
	result, logErr := d.executor.execute(ctx, d.tasks[i], s.since)
	d.results[i], d.logErrors[i] = d.executor.settle(ctx, d.tasks[i], result), logErr
	s.releaseMemory()
	d.events <- func() {
		d.freeSlots++
		for _, t := range d.targets[i] {
			if logErr == nil { // a lost log says nothing about the target
				t.recordResult(result) // as the task ended, before Settle changed it
			}
		}
	}
}

// releaseTargets gives back the targets of task i, which has ended.
func (d *dispatcher) releaseTargets(i int) {
	for _, t := range d.targets[i] {
		t.tasksInUse--
	}
	d.unfinished--
}

// requestLease starts a goroutine that leases the targets of task i against other
// processes and then runs the task. While it waits for the lease, the task holds
// no slot, and no second task of this process asks for the same targets. So at most
// one task holds a target that other tasks wait for while it waits for a slot itself.
func (d *dispatcher) requestLease(ctx context.Context, i int) {
	leaseCtx, cancel := context.WithCancel(ctx)
	d.pendingLeases[i] = cancel
	var targets []Target
	for _, t := range d.targets[i] {
		t.leasePending = true
		targets = append(targets, t.Target)
	}
	d.reportWaiting(i, d.targets[i][0])
	go func() {
		defer cancel()
		for done := false; !done; {
			leased := false
			d.executor.opts.Lease(leaseCtx, targets, func(held context.Context) {
				leased = true
				done = d.runWithLease(ctx, held, i)
			})
			if !leased {
				done = d.runWithLease(ctx, ctx, i)
			}
		}
		d.events <- func() { d.releaseTargets(i) }
	}()
}

// runWithLease waits until a slot is free for task i and runs the task. The context
// held ends when the lease is lost. If that happens before the task has its slot,
// runWithLease does not run the task and returns false.
func (d *dispatcher) runWithLease(ctx, held context.Context, i int) bool {
	turn := make(chan slot, 1)
	d.events <- func() {
		delete(d.pendingLeases, i)
		d.leased = append(d.leased, leasedTask{i, turn})
	}
	s := <-turn
	if held.Err() != nil && ctx.Err() == nil {
		s.releaseMemory()
		d.events <- func() { d.freeSlots++ }
		return false
	}
	d.runInSlot(held, i, s)
	return true
}

// startLeased gives a slot to the task that has held its lease for the longest time.
func (d *dispatcher) startLeased(ctx context.Context) {
	next := d.leased[0]
	d.leased = d.leased[1:]
	next.turn <- d.takeSlot(ctx, next.task)
}
