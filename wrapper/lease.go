package wrapper

import "context"

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
