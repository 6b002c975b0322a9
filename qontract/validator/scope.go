package validator

import "fmt"

// A Scope says which part of a bundle is checked.
type Scope int

// The scopes. The zero value checks nothing.
const (
	None    Scope = iota
	Changed       // files that differ from base, and files that these changes can break
	All           // every file
)

var scopeWords = [...]string{"none", "changed", "all"}

// String returns the word for the scope on command lines.
func (s Scope) String() string { return scopeWords[s] }

// Set parses the word for a scope. It makes a Scope usable as a flag.
func (s *Scope) Set(word string) error {
	for i, w := range scopeWords {
		if w == word {
			*s = Scope(i)
			return nil
		}
	}
	return fmt.Errorf("must be one of all, changed, none")
}

// Type returns the words that a flag accepts.
func (s *Scope) Type() string { return "all|changed|none" }
