package gql

import (
	"fmt"
	"slices"
	"strings"
)

// A SelectorStepKind says where a step of a selector leads.
type SelectorStepKind uint8

const (
	// StepField leads to the value of a key of an object.
	StepField SelectorStepKind = iota
	// StepItems leads to every item of a list.
	StepItems
	// StepMembers leads to the value of every key of an object.
	StepMembers
)

// A Step is one step of a selector through an answer. Key is only used with StepField.
type Step struct {
	Kind SelectorStepKind
	Key  string
}

// String returns the step in the syntax of selectors.
func (s Step) String() string {
	switch s.Kind {
	case StepItems:
		return "[*]"
	case StepMembers:
		return ".*"
	}
	return "." + s.Key
}

// An answerShape is a kind of value that an answer can have at some place: a list, a scalar
// or an object.
type answerShape struct {
	list       bool
	leafType   *typeDef        // type of a scalar or enum; nil for an object
	selections valueSelections // selections of an object
}

// CheckSelector checks that the steps can lead to a string, number or boolean in an answer
// of the query. The error names the step that never matches.
func (q *Query) CheckSelector(steps []Step) error {
	at := []answerShape{}
	if q.fields != nil {
		at = append(at, answerShape{selections: valueSelections{{q.op.selectionSet, q.schema.query}}})
	}
	for i, s := range steps {
		var next []answerShape
		for _, from := range at {
			next = append(next, q.followStep(from, s)...)
		}
		if len(next) == 0 {
			return fmt.Errorf("step %d (%s) can never match: %s", i+1, s, q.describeShapes(at))
		}
		at = next
	}
	isKey := func(s answerShape) bool {
		return !s.list && s.leafType != nil && (s.leafType.kind == kindEnum || s.leafType.scalar != scalarJSON)
	}
	if !slices.ContainsFunc(at, isKey) {
		return fmt.Errorf("the last step must lead to a string, number or boolean: %s", q.describeShapes(at))
	}
	return nil
}

// followStep returns the shapes to which one step leads.
func (q *Query) followStep(from answerShape, s Step) []answerShape {
	switch {
	case s.Kind == StepItems:
		if !from.list {
			return nil
		}
		from.list = false
		return []answerShape{from}
	case from.list || from.leafType != nil:
		return nil
	}
	var out []answerShape
	keys, shapes := q.answerMembers(from.selections)
	for i, key := range keys {
		if s.Kind == StepMembers || s.Key == key {
			out = append(out, shapes[i]...)
		}
	}
	return out
}

// answerMembers returns the keys that an object of the answer can have, and the shapes of
// their values.
func (q *Query) answerMembers(l valueSelections) (keys []string, shapes [][]answerShape) {
	q.eachField(l, func(n *fieldNode, on *typeDef) {
		at := slices.Index(keys, n.responseKey())
		if at < 0 {
			at = len(keys)
			keys, shapes = append(keys, n.responseKey()), append(shapes, nil)
		}
		for _, def := range q.fieldDefinitions(on, n.name) {
			shapes[at] = addShape(shapes[at], n, def)
		}
	})
	return keys, shapes
}

// addShape adds the value of a field to the shapes of a key. All objects are merged into
// one shape.
func addShape(shapes []answerShape, n *fieldNode, def *fieldDef) []answerShape {
	if def.typ.isLeaf() {
		for _, s := range shapes {
			if s.leafType == def.typ && s.list == def.list {
				return shapes
			}
		}
		return append(shapes, answerShape{list: def.list, leafType: def.typ})
	}
	for i := range shapes {
		if shapes[i].leafType == nil && shapes[i].list == def.list {
			shapes[i].selections = shapes[i].selections.with(n.selectionSet, def.typ)
			return shapes
		}
	}
	return append(shapes, answerShape{list: def.list, selections: valueSelections{}.with(n.selectionSet, def.typ)})
}

// describeShapes describes the shapes at a place, for an error message.
func (q *Query) describeShapes(at []answerShape) string {
	if len(at) == 0 {
		return "the operation has no answer"
	}
	switch s := at[0]; {
	case s.list:
		return "there is a list"
	case s.leafType != nil:
		return "there is a value of type " + s.leafType.name
	default:
		keys, _ := q.answerMembers(s.selections)
		return "there is an object with " + strings.Join(keys, ", ")
	}
}
