package wrapper

import (
	"context"
	"slices"
	"time"

	"github.com/app-sre/prcheck/plan"
)

// A dispatcher starts tasks when there are a slot, their memory and their
// targets. All that changes does so in the goroutine of group: the others send
// what has happened.
type dispatcher struct {
	one      *single
	tasks    []plan.Task
	uses     [][]*target // by task
	room     room
	results  []plan.Result
	troubles []error
	free     int // slots
	events   chan func()

	ready   time.Time                  // since when the tasks of the group could run
	waiting []int                      // for a slot or a target, in their order
	asking  map[int]context.CancelFunc // the tasks that ask other processes for room
	granted []grant                    // hold their targets and wait for a slot
	left    int                        // tasks of the group that are not gone
	held    map[int]time.Time          // since when tasks wait for a target, although there was a slot
}

// A grant waits for its turn.
type grant struct {
	task int
	turn chan place
}

// A place is what a task has that starts.
type place struct {
	leave  func() // leaves the room again
	waited wait
}

// A wait says since when a task was ready, and since when it waited for a target.
type wait struct{ ready, target time.Time } // target is zero when it did not

// group runs the tasks with these indices.
func (d *dispatcher) group(ctx context.Context, group []int) {
	d.waiting, d.left, d.ready = slices.Clone(group), len(group), time.Now()
	ended := ctx.Done()
	for d.left > 0 {
		timer := d.advance(ctx)
		if d.left == 0 {
			return
		}
		select {
		case happened := <-d.events:
			happened()
		case <-timer:
		case <-ended:
			ended = nil
		}
	}
}

// advance starts what can start. The channel tells when time alone lets another
// one start; nil when it does not.
func (d *dispatcher) advance(ctx context.Context) <-chan time.Time {
	if ctx.Err() != nil || d.one.opts.FailFast && d.one.failed.Load() {
		d.drain(ctx)
		return nil
	}
	for d.free > 0 && len(d.granted) > 0 { // before the others, since others may wait for what it holds
		d.grant(ctx)
	}
	soonest := time.Duration(0)
	for k := 0; d.free > 0 && k < len(d.waiting); {
		i := d.waiting[k]
		by, wait := d.blocked(i)
		if by != nil && !by.unavailable() {
			if wait > 0 && (soonest == 0 || wait < soonest) {
				soonest = wait
			}
			d.tell(i, by)
			k++
			continue
		}
		d.waiting = slices.Delete(d.waiting, k, k+1)
		if by != nil {
			d.results[i] = d.one.unavailable(d.tasks[i], by.Name)
			d.left--
			continue
		}
		d.begin(ctx, i)
	}
	if soonest == 0 {
		return nil
	}
	return time.After(soonest)
}

// drain ends all that did not start: nothing does any more.
func (d *dispatcher) drain(ctx context.Context) {
	for _, i := range d.waiting {
		d.results[i], d.troubles[i] = d.one.run(ctx, d.tasks[i], wait{ready: d.ready})
		d.left--
	}
	d.waiting = nil
	for _, cancel := range d.asking {
		cancel()
	}
	for len(d.granted) > 0 {
		d.grant(ctx)
	}
}

// blocked returns a target that a task must wait for, or that is unavailable.
func (d *dispatcher) blocked(i int) (by *target, wait time.Duration) {
	now := time.Now()
	for _, t := range d.uses[i] {
		if t.unavailable() {
			return t, 0
		}
		if full, w := t.full(now); full && (by == nil || w > wait) {
			by, wait = t, w
		}
	}
	return by, wait
}

// tell tells once that a task waits for a target, although there is a slot.
func (d *dispatcher) tell(i int, by *target) {
	if d.held[i].IsZero() {
		d.held[i] = time.Now()
		d.one.tell(d.one.opts.Observe, Event{Task: d.tasks[i], Waits: by.Name})
	}
}

// begin takes the targets of a task, and starts it; first it asks other processes
// for room, when there may be any.
func (d *dispatcher) begin(ctx context.Context, i int) {
	for _, t := range d.uses[i] {
		t.using++
	}
	if len(d.uses[i]) > 0 && d.one.opts.Lease != nil {
		d.ask(ctx, i)
		return
	}
	at := d.start(ctx, i)
	go func() {
		d.work(ctx, i, at)
		d.events <- func() { d.gone(i) }
	}()
}

// start takes a slot and the memory.
func (d *dispatcher) start(ctx context.Context, i int) place {
	d.free--
	leave := d.room.enter(ctx, d.tasks[i].Memory)
	now := time.Now()
	for _, t := range d.uses[i] {
		t.start(now)
	}
	return place{leave, wait{d.ready, d.held[i]}}
}

// work runs a task that has all it needs.
func (d *dispatcher) work(ctx context.Context, i int, at place) {
	result, trouble := d.one.run(ctx, d.tasks[i], at.waited)
	d.results[i], d.troubles[i] = d.one.settle(ctx, d.tasks[i], result), trouble
	at.leave()
	d.events <- func() {
		d.free++
		for _, t := range d.uses[i] {
			if trouble == nil {
				t.saw(result) // what is known of it beyond that tells nothing of the target
			}
		}
	}
}

// gone gives back the targets of a task that has ended.
func (d *dispatcher) gone(i int) {
	for _, t := range d.uses[i] {
		t.using--
	}
	d.left--
}
