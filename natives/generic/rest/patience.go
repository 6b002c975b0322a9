package rest

import (
	"sync"
	"time"
)

// A Patience bounds how long reads wait for one service that gives no answer, all of them together: a
// service that is down must not hold a check for long. Several clients may share one.
type Patience struct {
	Idle time.Duration // how long reads go on without an answer

	mu    sync.Mutex
	heard time.Time // of the last answer, or when reads began
	asked time.Time // of the last request
}

// lastTry is how long a request may take when the patience is over.
const lastTry = 2 * time.Second

// left returns how long reads may go on. It is negative when the patience is over. It begins anew when
// nobody asked for a while.
func (p *Patience) left(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.asked) > p.Idle {
		p.heard = now
	}
	p.asked = now
	return p.heard.Add(p.Idle).Sub(now)
}

// hear notes an answer that is no failure of the service.
func (p *Patience) hear(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = now
}

// readTime returns how long a read may go on, for the client and for all that ask the service.
func (c *Client) readTime(now time.Time) time.Duration {
	left := c.Patience.left(now)
	if c.MaxRead <= 0 {
		return left
	}
	c.readSince.CompareAndSwap(nil, &now)
	return min(left, c.readSince.Load().Add(c.MaxRead).Sub(now))
}
