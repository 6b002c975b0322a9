package rest

import (
	"context"
	"sync"
)

// Chains let one write at a time go on below each key. The zero value is ready to use.
type chains struct {
	mu   sync.Mutex
	held map[string]*chain
}

// A chain is held by who has put something into its channel.
type chain struct {
	free  chan struct{}
	users int
}

// lock waits until nobody else holds a key. The caller calls the function that it returns.
func (c *chains) lock(ctx context.Context, key string) (unlock func(), err error) {
	c.mu.Lock()
	one := c.held[key]
	if one == nil {
		one = &chain{free: make(chan struct{}, 1)}
		if c.held == nil {
			c.held = map[string]*chain{}
		}
		c.held[key] = one
	}
	one.users++
	c.mu.Unlock()
	leave := func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if one.users--; one.users == 0 {
			delete(c.held, key)
		}
	}
	select {
	case one.free <- struct{}{}:
		return func() { <-one.free; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}
