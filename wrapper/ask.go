package wrapper

import "context"

// ask asks other processes for room at the targets of a task. In the meantime it
// has no slot, and of each target only one task asks: so no more than one holds
// what others wait for, and waits itself for a slot.
func (d *dispatcher) ask(ctx context.Context, i int) {
	asking, cancel := context.WithCancel(ctx)
	d.asking[i] = cancel
	var all []Target
	for _, t := range d.uses[i] {
		t.asking = true
		all = append(all, t.Target)
	}
	d.tell(i, d.uses[i][0])
	go func() {
		defer cancel()
		for done := false; !done; {
			called := false
			d.one.opts.Lease(asking, all, func(held context.Context) {
				called = true
				done = d.hold(ctx, held, i)
			})
			if !called {
				done = d.hold(ctx, ctx, i)
			}
		}
		d.events <- func() { d.gone(i) }
	}()
}

// hold waits for the turn of a task that holds its targets, and runs it. It tells
// whether it did: not when they were lost before.
func (d *dispatcher) hold(ctx, held context.Context, i int) bool {
	turn := make(chan place, 1)
	d.events <- func() {
		delete(d.asking, i)
		d.granted = append(d.granted, grant{i, turn})
	}
	at := <-turn
	if held.Err() != nil && ctx.Err() == nil {
		at.leave()
		d.events <- func() { d.free++ }
		return false
	}
	d.work(held, i, at)
	return true
}

// grant gives the first task that holds its targets its turn.
func (d *dispatcher) grant(ctx context.Context) {
	next := d.granted[0]
	d.granted = d.granted[1:]
	next.turn <- d.start(ctx, next.task)
}
