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
	maxReached = 300_000
)

// A part is what one definition has by itself.
type definitionSize struct {
	selections int
	spreads    []string
	lastRound  int // of the last definition that reached it
}

// A census counts the selections of a document.
type reachCounter struct {
	fragments map[string]*definitionSize
	round     int
	reached   int
}

// tooComplex returns the complaint about a document that would take too long
// to validate.
func checkReach(doc *document) *Error {
	if len(doc.fragments) == 0 {
		return nil
	}
	c := &reachCounter{fragments: make(map[string]*definitionSize, len(doc.fragments))}
	for _, f := range doc.fragments {
		c.fragments[f.name] = sizeOfSet(f.selectionSet)
	}
	for _, op := range doc.operations {
		c.addReachable(sizeOfSet(op.selectionSet))
	}
	for _, f := range doc.fragments {
		c.addReachable(c.fragments[f.name])
	}
	if c.reached <= maxReached {
		return nil
	}
	return &Error{Code: CodeValidation, Message: "The document uses its fragments too often to be validated."}
}

func sizeOfSet(set *selectionSet) *definitionSize {
	p := &definitionSize{}
	p.add(set)
	return p
}

func (p *definitionSize) add(set *selectionSet) {
	p.selections += len(set.selections)
	for _, s := range set.selections {
		switch s := s.(type) {
		case *fieldNode:
			if s.selectionSet != nil {
				p.add(s.selectionSet)
			}
		case *inlineNode:
			p.add(s.selectionSet)
		case *spreadNode:
			p.spreads = append(p.spreads, s.name)
		}
	}
}

// reach adds what a definition reaches to the walk.
func (c *reachCounter) addReachable(from *definitionSize) {
	c.round++
	todo := []*definitionSize{from}
	for len(todo) > 0 && c.reached <= maxReached {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		c.reached += 1 + p.selections
		for _, name := range p.spreads {
			if next := c.fragments[name]; next != nil && next.lastRound != c.round {
				next.lastRound = c.round
				todo = append(todo, next)
			}
		}
	}
}

// sizes checks the number of fields of every operation. There are no cycles.
func (v *validator) checkOperationSizes() {
	if len(v.doc.fragments) == 0 {
		return // there are fewer fields than tokens
	}
	known := map[string]int{}
	for _, op := range v.doc.operations {
		if v.countSelections(op.selectionSet, known) > maxFields {
			v.report(fmt.Sprintf("The operation selects more than %d fields once its fragments are filled in.", maxFields), op.pos)
		}
	}
}

// size counts the fields of a selection set.
func (v *validator) countSelections(set *selectionSet, known map[string]int) int {
	n := 0
	for _, s := range set.selections {
		n++
		switch s := s.(type) {
		case *fieldNode:
			if s.selectionSet != nil {
				n += v.countSelections(s.selectionSet, known)
			}
		case *inlineNode:
			n += v.countSelections(s.selectionSet, known)
		case *spreadNode:
			size, ok := known[s.name]
			if !ok {
				size = v.countSelections(v.fragments[s.name].selectionSet, known)
				known[s.name] = size
			}
			n += size
		}
		n = min(n, maxFields+1)
	}
	return n
}
