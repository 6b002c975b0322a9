package gql

import "fmt"

// Limits on documents. Real documents stay far below them. They keep a hostile query from
// costing more than an honest one.
const (
	// maxTokens is the number of tokens of a document. qontract-server accepts bodies up to
	// 100 kB, which hold fewer tokens unless they consist of brackets.
	maxTokens = 60_000
	// maxDepth is the nesting depth of selection sets, lists and objects.
	maxDepth = 1000
	// maxFields is the number of selections of an operation after every fragment spread is
	// replaced by its fragment. Fragments that use others twice can make it grow exponentially.
	maxFields = 100_000
	// maxReached is the number of selections that all definitions reach. A fragment counts
	// once for every definition that reaches it.
	maxReached = 300_000
)

// A definitionSize holds the number of selections of one operation or fragment, and the
// names of the fragments that it uses directly.
type definitionSize struct {
	selections int
	spreads    []string
	lastRound  int // round in which a definition last reached this one
}

// A reachCounter counts the selections that definitions reach through fragments.
type reachCounter struct {
	fragments map[string]*definitionSize
	round     int
	reached   int
}

// checkReach returns an error for a document that would take too long to validate.
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

// sizeOfSet returns the size of a definition with this selection set.
func sizeOfSet(set *selectionSet) *definitionSize {
	s := &definitionSize{}
	s.add(set)
	return s
}

// add counts the selections of a set and of the sets inside it.
func (s *definitionSize) add(set *selectionSet) {
	s.selections += len(set.selections)
	for _, selection := range set.selections {
		switch n := selection.(type) {
		case *fieldNode:
			if n.selectionSet != nil {
				s.add(n.selectionSet)
			}
		case *inlineNode:
			s.add(n.selectionSet)
		case *spreadNode:
			s.spreads = append(s.spreads, n.name)
		}
	}
}

// addReachable adds the number of selections that one definition reaches.
func (c *reachCounter) addReachable(from *definitionSize) {
	c.round++
	pending := []*definitionSize{from}
	for len(pending) > 0 && c.reached <= maxReached {
		next := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		c.reached += 1 + next.selections
		for _, name := range next.spreads {
			if used := c.fragments[name]; used != nil && used.lastRound != c.round {
				used.lastRound = c.round
				pending = append(pending, used)
			}
		}
	}
}

// checkOperationSizes checks the number of selections of every operation. The fragments of
// the document must not form a cycle.
func (v *validator) checkOperationSizes() {
	if len(v.doc.fragments) == 0 {
		return // without fragments there are fewer selections than tokens
	}
	known := map[string]int{}
	for _, op := range v.doc.operations {
		if v.countSelections(op.selectionSet, known) > maxFields {
			v.report(fmt.Sprintf("The operation selects more than %d fields once its fragments are filled in.", maxFields),
				op.pos)
		}
	}
}

// countSelections counts the selections of a set, with every fragment spread replaced by
// its fragment. known holds the counts of fragments that were counted before.
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
