package integration

import (
	"slices"

	"go.yaml.in/yaml/v3"
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

// OwnSettings are the settings that a native integration reads itself. The zero value is no
// settings.
type OwnSettings struct {
	File string // name of the settings file
	At   string // where they stand in the file, such as integrations.a.settings
	Line int    // 0 if there are none
	node *yaml.Node
}

// IsZero reports whether there are no settings.
func (s OwnSettings) IsZero() bool { return s.node == nil }

// Claims reports whether the settings allow to take a thing of this key: one without a mark,
// or one of another caller. A pattern matches as a [Glob] does.
func (it Integration) Claims(key string) (adopt, takeOver bool) {
	matches := func(pattern string) bool { return Glob{Pattern: pattern}.Match(key) }
	return slices.ContainsFunc(it.Adopt, matches), slices.ContainsFunc(it.TakeOver, matches)
}
