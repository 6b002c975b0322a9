package server

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

// An evaluationLimiter limits how many requests are evaluated at once, how many wait for
// that, and how many bytes of answers are being sent to clients.
type evaluationLimiter struct {
	slots      chan struct{}
	waiting    atomic.Int64
	maxWaiting int64
	timeout    time.Duration // of one evaluation, with the waiting
	unsent     *byteBudget
}

func newEvaluationLimiter(l Limits) *evaluationLimiter {
	return &evaluationLimiter{
		slots: make(chan struct{}, l.Evaluations), maxWaiting: int64(l.Waiting), timeout: l.Evaluation,
		unsent: newByteBudget(l.Unsent),
	}
}

// run calls evaluate as soon as a slot is free. The answer keeps its part of the budget
// for unsent bytes until it is sent. A nil limiter has no limits.
func (l *evaluationLimiter) run(ctx context.Context, evaluate func(context.Context) *reply) *reply {
	if l == nil {
		return evaluate(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	if !l.acquireSlot(ctx) {
		p := errorPage(http.StatusServiceUnavailable, "Too many requests are waiting; ask again later.")
		p.header = append(p.header, [2]string{"Retry-After", "5"})
		return p
	}
	defer func() { <-l.slots }()
	p := evaluate(ctx)
	p.prepare()
	unsentCtx, stop := context.WithTimeout(ctx, maxUnsentWait)
	defer stop()
	reserved, ok := l.unsent.reserve(unsentCtx, len(p.body))
	if !ok {
		return errorPage(http.StatusServiceUnavailable, "Too many answers are on their way; ask again later.")
	}
	p.afterSend = func() { l.unsent.release(reserved) }
	return p
}

// acquireSlot waits for a slot. It returns false if too many requests wait, or if ctx ends.
func (l *evaluationLimiter) acquireSlot(ctx context.Context) bool {
	select {
	case l.slots <- struct{}{}:
		return true
	default:
	}
	if l.waiting.Add(1) > l.maxWaiting {
		l.waiting.Add(-1)
		return false
	}
	defer l.waiting.Add(-1)
	select {
	case l.slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// maxUnsentWait is how long an answer waits until other answers are sent. It keeps its
// slot meanwhile.
const maxUnsentWait = 3 * time.Second

// budgetUnit is the number of bytes per token of a byteBudget.
const budgetUnit = 1 << 20

// A byteBudget is a number of bytes that several answers share. An answer that is larger
// than the whole budget takes all of it.
type byteBudget struct {
	reserving chan struct{} // held by the caller of reserve, so that two callers never wait for each other
	tokens    chan struct{}
}

func newByteBudget(bytes int64) *byteBudget {
	return &byteBudget{reserving: make(chan struct{}, 1), tokens: make(chan struct{}, max(1, bytes/budgetUnit))}
}

// reserve waits until the budget has room for the given number of bytes. It returns the
// number of tokens to release.
func (b *byteBudget) reserve(ctx context.Context, bytes int) (int, bool) {
	need := min(bytes/budgetUnit, cap(b.tokens))
	if need == 0 {
		return 0, true // less than one token
	}
	select {
	case b.reserving <- struct{}{}:
	case <-ctx.Done():
		return 0, false
	}
	defer func() { <-b.reserving }()
	for got := range need {
		select {
		case b.tokens <- struct{}{}:
		case <-ctx.Done():
			b.release(got)
			return 0, false
		}
	}
	return need, true
}

// release gives back n tokens.
func (b *byteBudget) release(n int) {
	for range n {
		<-b.tokens
	}
}
