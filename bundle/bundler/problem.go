package bundler

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
)

// A Problem is one thing in the tree that keeps it from becoming a bundle.
type Problem struct {
	File   string // such as data/users/ana.yml
	Line   int    // from 1; 0 when the problem has no place in the file
	Column int    // from 1, in characters; 0 when there is none
	Msg    string // what is wrong and what to do
}

// Error gives the problem as one line: file:line:column: message.
func (p Problem) Error() string {
	switch {
	case p.Line == 0:
		return fmt.Sprintf("%s: %s", p.File, p.Msg)
	case p.Column == 0:
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Msg)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Msg)
}

// Bounds of what is told of one file, and of all of them.
const (
	maxProblems = 100
	maxTold     = 10_000
)

// problems gathers what several goroutines find.
type problems struct {
	mu   sync.Mutex
	list []Problem
}

func (p *problems) add(file string, found ...Problem) {
	if len(found) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range found {
		if len(p.list) == maxTold {
			return
		}
		f.File = file
		p.list = append(p.list, f)
	}
}

// sorted gives all problems in the order of files and places.
func (p *problems) sorted() []Problem {
	p.mu.Lock()
	defer p.mu.Unlock()
	slices.SortStableFunc(p.list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return p.list
}
