package gql

import (
	"fmt"

	"github.com/vektah/gqlparser/v2/ast"
)

// Bounds on documents. They are far above what anyone writes, and keep a
// hostile query from costing more than an honest one.
const (
	// maxTokens: a body of 100 kB, which is what qontract-server takes, has
	// fewer.
	maxTokens = 60_000
	// maxFields counts the fields of an operation with every fragment in the
	// place of its uses: fragments can double each other.
	maxFields = 100_000
	// maxWalk counts the selections that gqlparser goes through: every
	// definition anew with all fragments that it reaches.
	maxWalk = 300_000
)

// A part is what one definition has by itself.
type part struct {
	size    int
	spreads []string
	round   int // of the last definition that reached it
}

// A census counts the selections of a document.
type census struct {
	fragments map[string]*part
	round     int
	walk      int
}

// tooComplex returns the complaint about a document that would take too long
// to validate.
func tooComplex(doc *ast.QueryDocument) *Error {
	c := &census{fragments: make(map[string]*part, len(doc.Fragments))}
	for _, f := range doc.Fragments {
		if c.fragments[f.Name] == nil {
			c.fragments[f.Name] = countSet(f.SelectionSet)
		}
	}
	for _, op := range doc.Operations {
		c.reach(countSet(op.SelectionSet))
	}
	for _, f := range doc.Fragments {
		c.reach(c.fragments[f.Name])
	}
	if c.walk <= maxWalk {
		return nil
	}
	return &Error{Code: CodeValidation, Message: "The document uses its fragments too often to be validated."}
}

func countSet(set ast.SelectionSet) *part {
	p := &part{}
	p.count(set)
	return p
}

func (p *part) count(set ast.SelectionSet) {
	p.size += len(set)
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			p.count(s.SelectionSet)
		case *ast.InlineFragment:
			p.count(s.SelectionSet)
		case *ast.FragmentSpread:
			p.spreads = append(p.spreads, s.Name)
		}
	}
}

// reach adds what a definition reaches to the walk.
func (c *census) reach(from *part) {
	c.round++
	todo := []*part{from}
	for len(todo) > 0 && c.walk <= maxWalk {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		c.walk += 1 + p.size
		for _, name := range p.spreads {
			if next := c.fragments[name]; next != nil && next.round != c.round {
				next.round = c.round
				todo = append(todo, next)
			}
		}
	}
}

// sizes checks the number of fields of every operation. There are no cycles.
func (c *compiler) sizes() {
	fragments := make(map[string]*fragment, len(c.doc.fragments))
	for _, f := range c.doc.fragments {
		fragments[f.name] = f
	}
	known := map[string]int{}
	var count func(*selectionSet) int
	count = func(set *selectionSet) int {
		n := 0
		for _, s := range set.selections {
			n++
			switch s := s.(type) {
			case *fieldNode:
				if s.set != nil {
					n += count(s.set)
				}
			case *inlineNode:
				n += count(s.set)
			case *spreadNode:
				size, ok := known[s.name]
				if !ok {
					size = count(fragments[s.name].set)
					known[s.name] = size
				}
				n += size
			}
			n = min(n, maxFields+1)
		}
		return n
	}
	for _, op := range c.doc.operations {
		if count(op.set) > maxFields {
			c.fail(CodeValidation, fmt.Sprintf("The operation selects more than %d fields once its fragments are filled in.", maxFields), op.pos)
		}
	}
}
