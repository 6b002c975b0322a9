package settings

import (
	"slices"
)

// Deletes say how many things a native integration may delete in one run. What the settings
// do not say is nil.
type Deletes struct {
	Max      *int // deletions
	Percent  *int // of the things that are ours
	Floor    *int // as many are always allowed
	Off      bool // only approved deletions are allowed
	Approved []Approval
}

// An Approval allows a native integration to delete one thing until the end of a day.
type Approval struct {
	Key   string
	Until string // as 2006-01-02
	Line  int
}

// Claims reports whether the settings allow to take a thing of this key: one without a mark,
// or one of another caller. A pattern matches as a [Glob] does.
func (it Integration) Claims(key string) (adopt, takeOver bool) {
	matches := func(pattern string) bool { return Glob{Pattern: pattern}.Match(key) }
	return slices.ContainsFunc(it.Adopt, matches), slices.ContainsFunc(it.TakeOver, matches)
}
