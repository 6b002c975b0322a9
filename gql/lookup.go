package gql

import (
	"fmt"
	"slices"
	"strings"
)

// A StepKind says what a step of a selector does.
type StepKind uint8

const (
	// StepField goes to a key of an object.
	StepField StepKind = iota
	// StepItems goes to every item of a list.
	StepItems
	// StepMembers goes to the value of every key of an object.
	StepMembers
)

// A Step is one step of a selector through an answer. Key is for StepField.
type Step struct {
	Kind StepKind
	Key  string
}

// String writes the step as selectors do.
func (s Step) String() string {
	switch s.Kind {
	case StepItems:
		return "[*]"
	case StepMembers:
		return ".*"
	}
	return "." + s.Key
}

// A shape is what an answer can have at some place.
type shape struct {
	list  bool
	leaf  *typeDef // of a scalar
	level level    // of an object
}

// Lookup tells whether the steps can lead to a scalar in an answer of the
// query. The error names the step that never matches.
func (q *Query) Lookup(steps []Step) error {
	at := []shape{}
	if q.top != nil {
		at = append(at, shape{level: level{{q.op.set, q.schema.query}}})
	}
	for i, s := range steps {
		var next []shape
		for _, from := range at {
			next = append(next, q.take(from, s)...)
		}
		if len(next) == 0 {
			return fmt.Errorf("step %d (%s) can never match: %s", i+1, s, q.describe(at))
		}
		at = next
	}
	isKey := func(s shape) bool {
		return !s.list && s.leaf != nil && (s.leaf.kind == kindEnum || s.leaf.scalar != scalarJSON)
	}
	if !slices.ContainsFunc(at, isKey) {
		return fmt.Errorf("the last step must lead to a string, number or boolean: %s", q.describe(at))
	}
	return nil
}

// take does one step from a shape.
func (q *Query) take(from shape, s Step) []shape {
	switch {
	case s.Kind == StepItems:
		if !from.list {
			return nil
		}
		from.list = false
		return []shape{from}
	case from.list || from.leaf != nil:
		return nil
	}
	var out []shape
	keys, shapes := q.members(from.level)
	for i, key := range keys {
		if s.Kind == StepMembers || s.Key == key {
			out = append(out, shapes[i]...)
		}
	}
	return out
}

// members returns the keys that an object of the answer can have, with the
// shapes of their values.
func (q *Query) members(l level) (keys []string, shapes [][]shape) {
	q.fields(l, func(n *fieldNode, on *typeDef) {
		at := slices.Index(keys, n.key())
		if at < 0 {
			at = len(keys)
			keys, shapes = append(keys, n.key()), append(shapes, nil)
		}
		for _, def := range q.definitions(on, n.name) {
			shapes[at] = join(shapes[at], n, def)
		}
	})
	return keys, shapes
}

// join adds the value of a field to the shapes of a key. Objects become one.
func join(shapes []shape, n *fieldNode, def *fieldDef) []shape {
	if def.typ.leaf() {
		for _, s := range shapes {
			if s.leaf == def.typ && s.list == def.list {
				return shapes
			}
		}
		return append(shapes, shape{list: def.list, leaf: def.typ})
	}
	for i := range shapes {
		if shapes[i].leaf == nil && shapes[i].list == def.list {
			shapes[i].level = shapes[i].level.with(n.set, def.typ)
			return shapes
		}
	}
	return append(shapes, shape{list: def.list, level: level{}.with(n.set, def.typ)})
}

// describe says what there is instead, for a message.
func (q *Query) describe(at []shape) string {
	if len(at) == 0 {
		return "the operation has no answer"
	}
	switch s := at[0]; {
	case s.list:
		return "there is a list"
	case s.leaf != nil:
		return "there is a value of type " + s.leaf.name
	default:
		keys, _ := q.members(s.level)
		return "there is an object with " + strings.Join(keys, ", ")
	}
}
