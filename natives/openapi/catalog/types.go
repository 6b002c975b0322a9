package catalog

import (
	"strings"

	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// version is that of the JSON of all pages.
const version = 1

// A Tree is all types, each below its parent.
type Tree struct {
	Version int      `json:"version"`
	Types   []Branch `json:"types"` // parents before their children
}

// A Branch is a type in a tree.
type Branch struct {
	Type      string   `json:"type"`
	Family    string   `json:"family"`
	Parent    string   `json:"parent,omitempty"`
	Singleton bool     `json:"singleton,omitempty"`
	Verbs     []string `json:"verbs"`
	Joins     []string `json:"joins,omitempty"`
	Address   string   `json:"address"`
	File      string   `json:"file"`

	level int
}

// NewTree returns the types of an index whose names contain a text, whatever its case, with
// the types around them.
func NewTree(index *resources.Index, filter string) *Tree {
	children := map[string][]*resources.Type{}
	for _, t := range index.Types() {
		children[strings.ToLower(t.Parent)] = append(children[strings.ToLower(t.Parent)], t)
	}
	out := &Tree{Version: version, Types: []Branch{}}
	out.add(children, "", 0, strings.ToLower(filter))
	return out
}

// add adds the children of a type and what is below them. It reports whether there are any.
func (tree *Tree) add(children map[string][]*resources.Type, parent string, level int, filter string) bool {
	found := false
	types := children[parent]
	for i, t := range types {
		at := len(tree.Types)
		tree.Types = append(tree.Types, branch(t, level))
		// Types of one name, in several versions or at several addresses, have one family.
		isLast := i+1 == len(types) || !strings.EqualFold(types[i+1].Name, t.Name)
		hasAny := isLast && tree.add(children, strings.ToLower(t.Name), level+1, filter)
		if !hasAny && !strings.Contains(strings.ToLower(t.ID()), filter) {
			tree.Types = tree.Types[:at]
			continue
		}
		found = true
	}
	return found
}

func branch(t *resources.Type, level int) Branch {
	return Branch{Type: t.ID(), Family: t.Family.Name, Parent: t.Parent, Singleton: t.IsSingleton,
		Verbs: t.Verbs(), Joins: t.Joins, Address: t.Path, File: t.Document.Name, level: level}
}
