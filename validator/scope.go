package validator

import "fmt"

// A Scope says what of a bundle is checked.
type Scope int

// The scopes. The zero value checks nothing.
const (
	None    Scope = iota
	Changed       // what differs from base, and whatever that can break
	All           // every file
)

var scopeWords = [...]string{"none", "changed", "all"}

// String returns the word for the scope that commands use.
func (s Scope) String() string { return scopeWords[s] }

// Set reads the word, so that a scope can be a flag.
func (s *Scope) Set(word string) error {
	for i, w := range scopeWords {
		if w == word {
			*s = Scope(i)
			return nil
		}
	}
	return fmt.Errorf("must be one of all, changed, none")
}

// Type names the words that a flag takes.
func (s *Scope) Type() string { return "all|changed|none" }
