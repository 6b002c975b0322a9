package classes

import (
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
)

// maxKept is how many properties Lookup keeps. Types that hold themselves have no end of them.
const maxKept = 50_000

// Lookup returns what is known of the property of a JSON pointer, nil if the type has none. It
// keeps what it reads: all keys of a map are one property, and the next look costs as much as the
// pointer is long.
func (c *Classifier) Lookup(pointer string) (*Property, error) {
	n, err := c.lookup(pointer)
	if n == nil || err != nil {
		return nil, err
	}
	p, _, err := c.classify(n)
	return p, err
}

// IsDescribed reports whether the specification describes any property of the type.
func (c *Classifier) IsDescribed() (bool, error) {
	steps, err := c.root().steps()
	return len(steps) > 0, err
}

// Members returns the names of the properties of the object of a JSON pointer, sorted.
func (c *Classifier) Members(pointer string) ([]string, error) {
	n, err := c.lookup(pointer)
	if n == nil || err != nil {
		return nil, err
	}
	steps, err := n.steps()
	var out []string
	for _, st := range steps {
		if st.kind == property {
			out = append(out, st.name)
		}
	}
	return out, err
}

// lookup returns the node of a JSON pointer, nil if the type has none.
func (c *Classifier) lookup(pointer string) (*node, error) {
	if c.kept == nil || c.count >= maxKept {
		c.kept, c.count = c.root(), 0
	}
	n := c.kept
	for part, rest, more := "", strings.TrimPrefix(pointer, "/"), pointer != ""; more; {
		var err error
		part, rest, more = strings.Cut(rest, "/")
		if n, err = c.part(n, jsonpointer.Unescape(part)); n == nil || err != nil {
			return nil, err
		}
	}
	return n, nil
}

// part returns the part of a node that a name stands for, nil if there is none.
func (c *Classifier) part(n *node, name string) (*node, error) {
	for _, st := range [...]step{{property, name}, {kind: item}, {kind: mapValue}} {
		if next := n.parts[st]; next != nil {
			return next, nil
		}
		isThere, err := n.describes(st)
		switch {
		case err != nil:
			return nil, err
		case isThere:
			return c.keep(n, st)
		}
	}
	return nil, nil
}

// keep reads a part of a node, and keeps it.
func (c *Classifier) keep(n *node, st step) (*node, error) {
	next, err := c.child(n, st)
	if err != nil {
		return nil, err
	}
	if n.parts == nil {
		n.parts = map[step]*node{}
	}
	n.parts[st] = next
	c.count++
	return next, nil
}
