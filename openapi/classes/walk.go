package classes

import (
	"errors"
)

// ErrTooMany says that a type has more properties than a listing holds. Single properties can
// still be explained.
var ErrTooMany = errors.New("the type has too many properties to list")

// The bounds of a listing.
const (
	maxListed = 50_000
	maxLevels = 100
)

// All returns all properties of a type, the outer ones first. It stops where a property holds
// an object of a kind that it stands in, and inside of what is read-only: there, everything
// is so.
func (c *Classifier) All() ([]*Property, error) {
	var out []*Property
	err := c.walk(c.root(), 0, &out)
	return out, err
}

func (c *Classifier) walk(n *node, level int, out *[]*Property) error {
	if level > maxLevels {
		return ErrTooMany
	}
	steps, err := n.steps()
	if err != nil {
		return err
	}
	for _, st := range steps {
		child, err := c.child(n, st)
		if err != nil {
			return err
		}
		p, _, err := c.classify(child)
		if err != nil {
			return err
		}
		if *out = append(*out, p); len(*out) > maxListed {
			return ErrTooMany
		}
		if p.Cyclic = child.isCyclic(); p.Cyclic {
			continue
		}
		if p.ReadOnly != nil && p.ReadOnly.Source != ByFamily {
			continue
		}
		if err := c.walk(child, level+1, out); err != nil {
			return err
		}
	}
	return nil
}
