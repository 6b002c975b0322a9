package classes

import (
	"fmt"
	"slices"
	"strings"
)

// setOfFamily finds lists of texts that are sets in all services of a family.
func (c *Classifier) setOfFamily(n *node) (*List, error) {
	if n.step.kind != property || !slices.Contains(c.family.Sets, n.step.name) {
		return nil, nil
	}
	if isScalar, err := holdsScalars(n); err != nil || !isScalar {
		return nil, err
	}
	return &List{Kind: Set, Exclusive: true,
		Ground: *c.ofFamily("the order of " + n.step.name + " does not count, and all of them are of the data")}, nil
}

// keyOfItems finds the member by which items are known: one that requests take, and that is a text. Names come first.
func (c *Classifier) keyOfItems(n *node) (*List, error) {
	if len(c.family.Keys) == 0 {
		return nil, nil
	}
	items, err := n.child(step{kind: item})
	if err != nil {
		return nil, err
	}
	for _, name := range c.keysOf(n) {
		isThere, err := items.describes(step{property, name})
		if err != nil {
			return nil, err
		}
		if !isThere {
			continue
		}
		member, err := items.child(step{property, name})
		if err != nil {
			return nil, err
		}
		taken := first(member.requests()...)
		if isKey, err := taken.isKey(); err != nil || isKey {
			return &List{Kind: Map, Keys: []string{name},
				Ground: Ground{Source: Inferred, Text: fmt.Sprintf("its items have a %s", name)}}, err
		}
	}
	return nil, nil
}

// keysOf returns the names of members that may be the key of a list, the best one first: name, the name of one of the
// list, as locationName of locations, and id.
func (c *Classifier) keysOf(n *node) []string {
	keys := slices.Clone(c.family.Keys)
	if n.step.kind != property {
		return keys
	}
	if one, isPlural := strings.CutSuffix(n.step.name, "s"); isPlural && one != "" {
		keys = slices.Insert(keys, 1, one+"Name")
	}
	return keys
}

// isKey reports whether a request takes a text.
func (s side) isKey() (bool, error) {
	if !s.has() {
		return false, nil
	}
	kind, err := s.keyword("type")
	if err != nil {
		return false, err
	}
	mark, err := s.keyword("readOnly")
	return typeName(kind.Value) == "string" && !mark.Value.Is(), err
}
