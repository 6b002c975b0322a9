package gql

import (
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/bundle"
)

// A Position is a place in a query with all that is read there of one object:
// a datafile, a resource, or an object inside one. It covers every type the
// object may have, so it holds for any data. The key $schema is always read.
//
// Some positions are not objects' own: where a key of Leaves or Whole holds a
// reference, the answer has the whole target (or an error that quotes it); see
// [Query.Scalars].
type Position struct {
	Leaves         []string // keys of scalars, and of lists of them
	Whole          []string // keys compared as a whole: JSON scalars, and what arguments ask for
	Discriminators []string // keys that tell the type of the object
	Refers         []string // dotted attributes: what they refer to decides which back references lead here
	Children       []Child
}

// A Child is a key of which more is read: of an object in its place, of the
// items of a list, or of any file that is referred to.
type Child struct {
	Key       string     // of the data; for back references the name of the field
	Synthetic *Synthetic // back references
	Resource  bool       // the key holds the path of a resource
	Pos       *Position
}

// A Synthetic is a back reference: the datafiles of a schema that refer to the
// object's path with a dotted attribute.
type Synthetic struct {
	Schema  bundle.Schema
	SubAttr string
}

// Same tells whether two versions of an object are the same as far as the
// position reads them. References count as what is written: when Same is true,
// the answers can differ only if a file that is referred to, or refers back,
// answers differently. Numbers count as written, and so does the order of keys
// in what is compared as a whole.
func (p *Position) Same(a, b any) bool {
	return p.compare(a, b, "", func(string) bool { return false })
}

// Changed returns the JSON pointers of what the position reads and that
// differs, sorted.
func (p *Position) Changed(a, b any) []string {
	var out []string
	p.compare(a, b, "", func(at string) bool {
		out = append(out, at)
		return true
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// compare calls differs for every difference until it returns false, and
// tells whether that never happened.
func (p *Position) compare(a, b any, at string, differs func(string) bool) bool {
	x, isObject := a.(*bundle.Object)
	y, ok := b.(*bundle.Object)
	switch {
	case !isObject || !ok:
		return equalAsWritten(a, b) || differs(at)
	case x == y:
		return true
	}
	if !compareKey(x, y, "$schema", at, differs) {
		return false
	}
	for _, keys := range [][]string{p.Discriminators, p.Leaves, p.Whole} {
		for _, key := range keys {
			if !compareKey(x, y, key, at, differs) {
				return false
			}
		}
	}
	for _, attr := range p.Refers {
		if !sameTargets(x, y, attr) && !differs(at+"/"+strings.ReplaceAll(attr, ".", "/")) {
			return false
		}
	}
	for i := range p.Children {
		if !p.Children[i].compare(x, y, at, differs) {
			return false
		}
	}
	return true
}

func compareKey(a, b *bundle.Object, key, at string, differs func(string) bool) bool {
	x, has := a.Get(key)
	y, hasToo := b.Get(key)
	return has == hasToo && equalAsWritten(x, y) || differs(pointer(at, key))
}

// sameTargets tells whether two objects refer to the same paths.
func sameTargets(a, b *bundle.Object, attr string) bool {
	var paths [2][]string
	for i, o := range []*bundle.Object{a, b} {
		eachTarget(o, attr, func(path string) { paths[i] = append(paths[i], path) })
	}
	return slices.Equal(sortedUnique(paths[0]), sortedUnique(paths[1]))
}

// compare compares the values of the child's key.
func (c *Child) compare(a, b *bundle.Object, at string, differs func(string) bool) bool {
	if c.Synthetic != nil {
		return true // the path of the object is one of the leaves
	}
	x, has := a.Get(c.Key)
	y, hasToo := b.Get(c.Key)
	if c.Resource || has != hasToo {
		return has == hasToo && equalAsWritten(x, y) || differs(pointer(at, c.Key))
	}
	list, isList := x.([]any)
	other, ok := y.([]any)
	if !isList || !ok {
		return c.item(x, y, pointer(at, c.Key), differs)
	}
	if len(list) != len(other) {
		return differs(pointer(at, c.Key))
	}
	for i := range list {
		if !c.item(list[i], other[i], pointer(pointer(at, c.Key), strconv.Itoa(i)), differs) {
			return false
		}
	}
	return true
}

// item compares two values: references as what is written.
func (c *Child) item(a, b any, at string, differs func(string) bool) bool {
	_, isReference := referenceTarget(a)
	_, isToo := referenceTarget(b)
	if isReference || isToo {
		return equalAsWritten(a, b) || differs(at)
	}
	return c.Pos.compare(a, b, at, differs)
}

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

func pointer(at, key string) string { return at + "/" + pointerEscape.Replace(key) }

// asWritten tells whether two values are the same down to the order of keys and
// the digits of numbers.
func equalAsWritten(a, b any) bool {
	switch a := a.(type) {
	case *bundle.Object:
		b, ok := b.(*bundle.Object)
		return ok && (a == b || slices.EqualFunc(a.Members(), b.Members(), func(x, y bundle.Member) bool {
			return x.Key == y.Key && equalAsWritten(x.Value, y.Value)
		}))
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equalAsWritten)
	}
	switch b.(type) {
	case *bundle.Object, []any:
		return false
	}
	return a == b
}

// Scalars returns the keys that the query reads as scalars anywhere. Where one
// holds a reference, the answer has the whole target, or an error that quotes
// it, and no position tells what is read of it.
func (q *Query) Scalars() map[string]bool {
	keys := map[string]bool{}
	q.Footprint().collectScalars(keys)
	return keys
}

// scalars gathers the keys that are read as scalars anywhere.
func (p *Position) collectScalars(keys map[string]bool) {
	for _, list := range [][]string{p.Leaves, p.Whole} {
		for _, key := range list {
			keys[key] = true
		}
	}
	for _, c := range p.Children {
		c.Pos.collectScalars(keys)
	}
}
