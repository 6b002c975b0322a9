package rules

import (
	"github.com/app-sre/prcheck/internal/jsonpointer"
)

// A memberer knows the names of the members of objects.
type memberer interface{ members(pattern string) []string }

// Members returns the names of the members that the object of a pattern may have, as far as they are known.
func Members(r Rules, pattern string) []string {
	if m, ok := r.(memberer); ok {
		return m.members(pattern)
	}
	return nil
}

func (t Table) members(pattern string) (out []string) {
	parts := jsonpointer.Split(pattern)
	for _, e := range t {
		if at := jsonpointer.Split(e.At); len(at) > len(parts) && covers(at[:len(parts)], parts) && at[len(parts)] != "*" {
			out = append(out, at[len(parts)])
		}
	}
	return out
}

func (o overlaid) members(pattern string) []string { return Members(o.Rules, pattern) }

func (c *cached) members(pattern string) []string { return Members(c.from, pattern) }

func (c *Classified) members(pattern string) []string {
	c.lock.Lock()
	defer c.lock.Unlock()
	names, err := c.classifier.Members(pattern)
	if err != nil {
		return nil // the rules of the place tell why
	}
	return names
}
