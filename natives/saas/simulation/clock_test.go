package simulation

import (
	"container/heap"
	"time"
)

// begin is when a simulation begins: a Monday.
var begin = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

// A clock goes from event to event.
type clock struct {
	now    time.Time
	events events
	count  int
}

// An event is something that happens. Events at the same time happen in the order in which they
// were planned.
type event struct {
	at     time.Time
	number int
	do     func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	if !e[i].at.Equal(e[j].at) {
		return e[i].at.Before(e[j].at)
	}
	return e[i].number < e[j].number
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// at plans an event.
func (c *clock) at(when time.Time, do func()) {
	c.count++
	heap.Push(&c.events, event{when, c.count, do})
}

// in plans an event after a time.
func (c *clock) in(d time.Duration, do func()) { c.at(c.now.Add(d), do) }

// run lets all events happen until a time.
func (c *clock) run(until time.Time) {
	for len(c.events) > 0 && !c.events[0].at.After(until) {
		e := heap.Pop(&c.events).(event)
		c.now = e.at
		e.do()
	}
	c.now = until
}

// A pacer lets something happen at most once in an interval, and only when it was asked for.
type pacer struct {
	clock    *clock
	every    time.Duration
	offset   time.Duration
	isComing bool
	do       func()
}

// ask lets it happen at the next beat.
func (p *pacer) ask() {
	if p.isComing {
		return
	}
	p.isComing = true
	since := p.clock.now.Sub(begin) - p.offset
	next := begin.Add(p.offset + (since/p.every+1)*p.every)
	p.clock.at(next, func() {
		p.isComing = false
		p.do()
	})
}
