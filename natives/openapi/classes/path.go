package classes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/suggest"
	"github.com/app-sre/prcheck/natives/openapi"
)

func sortSteps(steps []step) {
	slices.SortFunc(steps, func(a, b step) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
	})
}

// text returns a path with one more step, as people write it.
func (st step) text(path string) string {
	switch {
	case st.kind == item:
		return path + "[]"
	case st.kind == mapValue:
		return path + "{}"
	case path == "":
		return st.name
	}
	return path + "." + st.name
}

// pattern returns a JSON pointer with one more step. * stands for any item and any key.
func (st step) pattern(pointer string) string {
	if st.kind != property {
		return pointer + "/*"
	}
	return jsonpointer.Append(pointer, st.name)
}

// A node is a property with what the bodies say about it.
type node struct {
	sides
	path, pointer string
	step          step
	inherited     inherited
	parent        *node

	property *Property // once it is classified
	passes   inherited
	parts    map[step]*node // those that Lookup read
}

// find returns the node of a path, either dotted or a JSON pointer, with all nodes around it
// as its parents. Any item and any key may be written by name: the node is that of all.
func (c *Classifier) find(path string) (*node, error) {
	n := c.root()
	if strings.HasPrefix(path, "/") {
		for _, part := range jsonpointer.Split(path) {
			next, err := c.named(n, part)
			if err != nil {
				return nil, err
			}
			n = next
		}
		return n, nil
	}
	for path != "" {
		next, rest, err := c.next(n, path)
		if err != nil {
			return nil, err
		}
		n, path = next, rest
	}
	return n, nil
}

// next returns the node of the first part of a dotted path, and the rest.
func (c *Classifier) next(n *node, path string) (*node, string, error) {
	switch {
	case strings.HasPrefix(path, "[]"):
		next, err := c.named(n, "*")
		return next, strings.TrimPrefix(path[2:], "."), err
	case strings.HasPrefix(path, "{}"):
		next, err := c.named(n, "*")
		return next, strings.TrimPrefix(path[2:], "."), err
	}
	steps, err := n.steps()
	if err != nil {
		return nil, "", err
	}
	best := ""
	for _, st := range steps {
		if st.kind == property && len(st.name) > len(best) && strings.HasPrefix(path, st.name) &&
			endsPart(path[len(st.name):]) {
			best = st.name
		}
	}
	if best == "" {
		best = path[:partLength(path)]
	}
	next, err := c.named(n, best)
	return next, strings.TrimPrefix(path[len(best):], "."), err
}

func endsPart(rest string) bool {
	return rest == "" || rest[0] == '.' || strings.HasPrefix(rest, "[]") || strings.HasPrefix(rest, "{}")
}

func partLength(path string) int {
	for i := 1; i < len(path); i++ {
		if endsPart(path[i:]) {
			return i
		}
	}
	return len(path)
}

// named returns the part of a node that a name stands for.
func (c *Classifier) named(n *node, name string) (*node, error) {
	for _, st := range []step{{property, name}, {kind: item}, {kind: mapValue}} {
		isThere, err := n.describes(st)
		if err != nil {
			return nil, err
		}
		if isThere {
			return c.child(n, st)
		}
	}
	message := fmt.Sprintf("%s has no property %q", n.where(), phrase.Cut(name, maxQuoted))
	if len(name) >= 100 {
		return nil, &PathError{message}
	}
	steps, err := n.steps()
	if err != nil {
		return nil, err
	}
	var words []string
	for _, st := range steps {
		words = append(words, st.name)
	}
	if near := suggest.Words(name, words, 1+len(name)/4); len(near) > 0 {
		message += fmt.Sprintf("; do you mean %q?", near[0])
	}
	return nil, &PathError{message}
}

func (n *node) where() string {
	if n.path == "" {
		return "the resource"
	}
	return fmt.Sprintf("%q", n.path)
}

// A PathError says that a type has no property of a path.
type PathError struct{ message string }

func (e *PathError) Error() string { return e.message }

// isCyclic reports whether a node holds an object of a kind that it stands in.
func (n *node) isCyclic() bool {
	decides := first(n.all()...)
	for _, t := range decides.schema.Targets() {
		for around := n.parent; around != nil; around = around.parent {
			if slices.Contains(around.targets(), t) {
				return true
			}
		}
	}
	return false
}

func (n *node) targets() []*openapi.Value {
	return first(n.all()...).schema.Targets()
}

// maxQuoted is the length in bytes up to which foreign text is quoted.
const maxQuoted = 100

// TakesAny reports whether a request takes members of a property, by its JSON pointer, that the specification does not
// name. "" is the whole body.
func (c *Classifier) TakesAny(pointer string) (bool, error) {
	n, err := c.find(pointer)
	if err != nil {
		return false, err
	}
	for _, s := range []side{n.put, n.post, n.patch} {
		if !s.has() {
			continue
		}
		isOpen, err := s.schema.IsOpen()
		if isOpen || err != nil {
			return isOpen, err
		}
		for _, keyword := range []string{"additionalProperties", "x-kubernetes-preserve-unknown-fields"} {
			if at, err := s.keyword(keyword); err != nil || at.Value.Is() {
				return err == nil, err
			}
		}
	}
	return false, nil
}

// RequestType returns the type of a property, by its JSON pointer, in what requests take; "" if they do not say it. An
// answer may have another one, such as an object for a name.
func (c *Classifier) RequestType(pointer string) (string, error) {
	n, err := c.find(pointer)
	if err != nil {
		return "", err
	}
	for _, s := range []side{n.put, n.post, n.patch} {
		if !s.has() {
			continue
		}
		at, err := s.keyword("type")
		if text := at.Value.Text(); text != "" || err != nil {
			return text, err
		}
	}
	return "", nil
}
