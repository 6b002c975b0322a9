package gql

import "fmt"

// Bounds on documents. They are far above what anyone writes, and keep a
// hostile query from costing more than an honest one.
const (
	// maxTokens: a body of 100 kB, which is what qontract-server takes, has
	// fewer, unless it is made of brackets.
	maxTokens = 60_000
	// maxDepth is how deep selection sets, lists and objects may nest.
	maxDepth = 1000
	// maxFields counts the fields of an operation with every fragment in the
	// place of its uses: fragments can double each other.
	maxFields = 100_000
	// maxWalk counts the selections of every definition with all fragments
	// that it reaches.
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
func tooComplex(doc *document) *Error {
	if len(doc.fragments) == 0 {
		return nil
	}
	c := &census{fragments: make(map[string]*part, len(doc.fragments))}
	for _, f := range doc.fragments {
		c.fragments[f.name] = countSet(f.set)
	}
	for _, op := range doc.operations {
		c.reach(countSet(op.set))
	}
	for _, f := range doc.fragments {
		c.reach(c.fragments[f.name])
	}
	if c.walk <= maxWalk {
		return nil
	}
	return &Error{Code: CodeValidation, Message: "The document uses its fragments too often to be validated."}
}

func countSet(set *selectionSet) *part {
	p := &part{}
	p.count(set)
	return p
}

func (p *part) count(set *selectionSet) {
	p.size += len(set.selections)
	for _, s := range set.selections {
		switch s := s.(type) {
		case *fieldNode:
			if s.set != nil {
				p.count(s.set)
			}
		case *inlineNode:
			p.count(s.set)
		case *spreadNode:
			p.spreads = append(p.spreads, s.name)
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
func (v *validator) sizes() {
	if len(v.doc.fragments) == 0 {
		return // there are fewer fields than tokens
	}
	known := map[string]int{}
	for _, op := range v.doc.operations {
		if v.size(op.set, known) > maxFields {
			v.report(fmt.Sprintf("The operation selects more than %d fields once its fragments are filled in.", maxFields), op.pos)
		}
	}
}

// size counts the fields of a selection set.
func (v *validator) size(set *selectionSet, known map[string]int) int {
	n := 0
	for _, s := range set.selections {
		n++
		switch s := s.(type) {
		case *fieldNode:
			if s.set != nil {
				n += v.size(s.set, known)
			}
		case *inlineNode:
			n += v.size(s.set, known)
		case *spreadNode:
			size, ok := known[s.name]
			if !ok {
				size = v.size(v.fragments[s.name].set, known)
				known[s.name] = size
			}
			n += size
		}
		n = min(n, maxFields+1)
	}
	return n
}
