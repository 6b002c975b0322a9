package rules

import "sync"

// maxCached is how many rules are kept. Names of keys come from the data and have no end.
const maxCached = 50_000

// Cached returns rules that remember what they found, by pattern.
func Cached(r Rules) Rules { return &cached{from: r, lock: new(sync.Mutex), known: map[string]Rule{}} }

type cached struct {
	from  Rules
	lock  *sync.Mutex
	known map[string]Rule
}

func (c *cached) At(pattern string) Rule {
	c.lock.Lock()
	defer c.lock.Unlock()
	if r, ok := c.known[pattern]; ok {
		return r
	}
	r := c.from.At(pattern)
	if len(c.known) >= maxCached {
		clear(c.known)
	}
	c.known[pattern] = r
	return r
}
