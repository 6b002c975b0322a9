package server

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

// A gate bounds what answers cost together: so many are evaluated at once, so
// many more wait, and so many bytes of them are on their way to clients.
type gate struct {
	slots   chan struct{}
	waiting atomic.Int64
	most    int64 // may wait
	timeout time.Duration
	budget  *budget
}

func newGate(l Limits) *gate {
	return &gate{
		slots: make(chan struct{}, l.Evaluations), most: int64(l.Waiting), timeout: l.Evaluation,
		budget: newBudget(l.Unsent),
	}
}

// pass evaluates an answer once there is room for it. Nobody passes a gate that
// is not there for free: without one there is no limit.
func (g *gate) pass(ctx context.Context, evaluate func(context.Context) *reply) *reply {
	if g == nil {
		return evaluate(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	if !g.enter(ctx) {
		p := page(http.StatusServiceUnavailable, "Too many requests are waiting; ask again later.")
		p.header = append(p.header, [2]string{"Retry-After", "5"})
		return p
	}
	defer func() { <-g.slots }()
	p := evaluate(ctx)
	p.seal()
	room, stop := context.WithTimeout(ctx, unsentWait)
	defer stop()
	held, ok := g.budget.take(room, len(p.body))
	if !ok {
		return page(http.StatusServiceUnavailable, "Too many answers are on their way; ask again later.")
	}
	p.done = func() { g.budget.give(held) }
	return p
}

func (g *gate) enter(ctx context.Context) bool {
	select {
	case g.slots <- struct{}{}:
		return true
	default:
	}
	if g.waiting.Add(1) > g.most {
		g.waiting.Add(-1)
		return false
	}
	defer g.waiting.Add(-1)
	select {
	case g.slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// unsentWait is how long an answer waits until others are sent. Meanwhile it
// keeps others from being evaluated.
const unsentWait = 3 * time.Second

// budgetUnit is how many bytes one token of a budget stands for.
const budgetUnit = 1 << 20

// A budget is so many bytes that several share. An answer that is larger than
// the whole budget needs all of it.
type budget struct {
	turn   chan struct{} // one takes at a time, so that none waits for another
	tokens chan struct{}
}

func newBudget(bytes int64) *budget {
	return &budget{turn: make(chan struct{}, 1), tokens: make(chan struct{}, max(1, bytes/budgetUnit))}
}

// take waits for room for so many bytes and returns what to give back.
func (b *budget) take(ctx context.Context, bytes int) (int, bool) {
	need := min(bytes/budgetUnit, cap(b.tokens))
	if need == 0 {
		return 0, true // too small to count
	}
	select {
	case b.turn <- struct{}{}:
	case <-ctx.Done():
		return 0, false
	}
	defer func() { <-b.turn }()
	for got := range need {
		select {
		case b.tokens <- struct{}{}:
		case <-ctx.Done():
			b.give(got)
			return 0, false
		}
	}
	return need, true
}

func (b *budget) give(n int) {
	for range n {
		<-b.tokens
	}
}
