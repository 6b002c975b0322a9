package proof

import (
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/settings"
)

// A tree is a desired state as shards see it, when the order of lists does not count.
type tree struct {
	rest  string // the hash of what belongs to no single shard
	parts []node
}

// A node is an element of a state that a wildcard leads to.
type node struct {
	rest   string // the hash of its place and of what belongs to it alone
	own    []string
	parts  []node
	shared bool // something in it belongs to every shard
}

// A splitter takes the nodes out of the documents of a state.
type splitter struct {
	writer
	document string
	unkeyed  []string // hashes of the elements whose key cannot be used
}

// newTree takes the nodes out of documents.
func newTree(documents list, selectors []settings.Selector) tree {
	s := splitter{writer: writer{settings.OrderIgnored}}
	var ways []way
	wild := false
	for _, by := range selectors {
		ways = append(ways, by.Steps)
		wild = wild || by.Steps[0].Kind != settings.Field
	}
	rests := map[string]string{}
	var t tree
	for n, d := range documents {
		s.document = strconv.Itoa(n)
		o, ok := d.(object)
		if !ok || wild {
			rest, parts := s.split(d, ways, "")
			rests[s.document] = rest
			t.parts = append(t.parts, parts...)
			continue
		}
		rests[s.document] = "{}"
		for _, key := range sortedKeys(o) {
			rest, parts := s.split(o[key], onward(ways, settings.Field, key), quoted(key))
			rests[s.document+"."+key] = rest
			t.parts = append(t.parts, parts...)
		}
	}
	var texts []string
	for _, name := range sortedKeys(rests) {
		texts = append(texts, name, rests[name])
	}
	t.rest = hash(append(texts, s.sorted(s.unkeyed)...)...)
	return t
}

// split returns the text of a value without its nodes, and the nodes.
func (s *splitter) split(v any, ways []way, place string) (rest string, parts []node) {
	var left []string
	add := func(item any, inner []way, place, name, label string) {
		if n, ok := s.node(item, inner, place, name); ok {
			parts = append(parts, n)
			return
		}
		left = append(left, label+s.write(item))
	}
	switch v := v.(type) {
	case object:
		wild := onward(ways, settings.Members, "")
		if len(ways) == 0 {
			break
		}
		for _, key := range sortedKeys(v) {
			label, named := strconv.Quote(key), onward(ways, settings.Field, key)
			if len(wild) > 0 {
				add(v[key], slices.Concat(wild, named), place+".*", label, label+":")
				continue
			}
			text, below := s.split(v[key], named, place+"."+quoted(key))
			left, parts = append(left, label+":"+text), append(parts, below...)
		}
		return "{" + strings.Join(left, ",") + "}", parts
	case list:
		wild := onward(ways, settings.Items, "")
		if len(wild) == 0 {
			break
		}
		for _, item := range v {
			add(item, wild, place+"[*]", "", "")
		}
		return "[" + strings.Join(s.sorted(left), ",") + "]", parts
	}
	return s.write(v), nil
}

// node returns the node of a value that a wildcard leads to. There is none when its key
// cannot be used, or when no key is in it.
func (s *splitter) node(v any, ways []way, place, name string) (node, bool) {
	p := look(v, ways)
	if p.bad {
		s.unkeyed = append(s.unkeyed, hash(s.document, place, name, s.write(v)))
		return node{}, false
	}
	first := len(s.unkeyed)
	rest, parts := s.split(v, p.inner, place)
	n := node{rest: hash(s.document, place, name, rest), own: p.own, parts: parts, shared: len(s.unkeyed) > first}
	for i := range s.unkeyed[first:] {
		s.unkeyed[first+i] = hash(n.rest, s.unkeyed[first+i])
	}
	return n, len(n.own)+len(n.parts) > 0
}

// quoted returns a name as a step of a place.
func quoted(name string) string {
	if name == "" || strings.ContainsAny(name, ".*[]\"\\") {
		return strconv.Quote(name)
	}
	return name
}

// seenBy hashes what the shard of a key sees: what belongs to it, what belongs to every
// shard, and the elements of the top level in which several keys stand together.
func (t tree) seenBy(key string) string {
	view, ok := node{rest: t.rest, parts: t.parts}.view(key)
	if !ok {
		view = t.rest
	}
	var together []string
	for _, n := range t.parts {
		if n.shared || len(n.keys()) > 1 {
			together = append(together, n.whole())
		}
	}
	slices.Sort(together)
	return hash(view, hash(together...))
}

// whole hashes a node with all its parts.
func (n node) whole() string {
	var below []string
	for _, p := range n.parts {
		below = append(below, p.whole())
	}
	slices.Sort(below)
	return hash(append([]string{n.rest}, below...)...)
}

// keys returns all keys in a node.
func (n node) keys() map[string]bool {
	out := map[string]bool{}
	for _, k := range n.own {
		out[k] = true
	}
	for _, p := range n.parts {
		for k := range p.keys() {
			out[k] = true
		}
	}
	return out
}

// view hashes a node as a shard sees it; false when the shard does not see it.
func (n node) view(key string) (string, bool) {
	if slices.Contains(n.own, key) {
		return n.whole(), true
	}
	var below []string
	for _, p := range n.parts {
		if v, ok := p.view(key); ok {
			below = append(below, v)
		}
	}
	slices.Sort(below)
	return hash(append([]string{n.rest}, below...)...), len(below) > 0
}
