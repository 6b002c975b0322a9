package bundler

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
)

// A Problem is a mistake in a file because of which no bundle can be made.
type Problem struct {
	File   string // such as data/users/ana.yml
	Line   int    // from 1; 0 if the problem concerns the whole file
	Column int    // from 1, in characters; 0 if not known
	Msg    string // what is wrong and how to mend it
}

// Error returns the problem as one line: file:line:column: message.
func (p Problem) Error() string {
	switch {
	case p.Line == 0:
		return fmt.Sprintf("%s: %s", p.File, p.Msg)
	case p.Column == 0:
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Msg)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Msg)
}

// The bounds of the number of problems that are reported.
const (
	maxProblems    = 100    // of one file
	maxAllProblems = 10_000 // of all files
)

// problems collects the problems that several goroutines find.
type problems struct {
	mu   sync.Mutex
	list []Problem
}

// add adds the problems of a file.
func (p *problems) add(file string, found ...Problem) {
	if len(found) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range found {
		if len(p.list) == maxAllProblems {
			return
		}
		f.File = file
		p.list = append(p.list, f)
	}
}

// sorted returns all problems in the order of files, lines and columns.
func (p *problems) sorted() []Problem {
	p.mu.Lock()
	defer p.mu.Unlock()
	slices.SortStableFunc(p.list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return p.list
}
