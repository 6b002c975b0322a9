package bundler

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A yamlReader turns what the parser found into values as PyYAML does, and
// notes what has none.
type yamlReader struct {
	raw      []byte
	doubts   bool // the file has something that a node does not tell
	lines    []string
	problems []Problem
	anchors  map[string]bool
	shared   map[*yaml.Node]*node // what aliases may name; nil while it is read
	weights  map[*node]int        // of what aliases may name
	weight   int                  // bytes of text so far, aliases written out
	merged   int
}

func (r *yamlReader) fail(n *yaml.Node, format string, args ...any) *node {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, Problem{Line: n.Line, Column: n.Column, Msg: fmt.Sprintf(format, args...)})
	}
	return &node{}
}

// value reads a node and what is below it.
func (r *yamlReader) value(n *yaml.Node, depth int) *node {
	if depth > maxDepth {
		return r.fail(n, "is more than %d levels deep", maxDepth)
	}
	if n.Kind == yaml.AliasNode {
		return r.alias(n)
	}
	if n.Anchor == "" {
		return r.fresh(n, depth)
	}
	if r.anchors[n.Anchor] {
		return r.fail(n, "the anchor &%s is there twice: rename one", clip(n.Anchor))
	}
	if r.anchors == nil {
		r.anchors, r.shared, r.weights = map[string]bool{}, map[*yaml.Node]*node{}, map[*node]int{}
	}
	r.anchors[n.Anchor] = true
	r.shared[n] = nil
	before := r.weight
	v := r.fresh(n, depth)
	r.shared[n] = v
	r.weights[v] = r.weight - before
	return v
}

func (r *yamlReader) alias(n *yaml.Node) *node {
	v, seen := r.shared[n.Alias]
	switch {
	case !seen:
		return r.fail(n, "the alias *%s names no anchor before it", clip(n.Value))
	case v == nil:
		return r.fail(n, "the alias *%s is inside of what it names, which has no end", clip(n.Value))
	}
	if r.weight += r.weights[v]; r.weight > maxExpanded {
		return r.fail(n, "aliases make this file larger than %d MiB", maxExpanded>>20)
	}
	return v
}

func (r *yamlReader) fresh(n *yaml.Node, depth int) *node {
	r.weight += 1 + len(n.Value)
	if r.weight > maxExpanded {
		return r.fail(n, "aliases make this file larger than %d MiB", maxExpanded>>20)
	}
	v := &node{line: int32(n.Line), column: int32(n.Column)}
	switch n.Kind {
	case yaml.ScalarNode:
		r.scalar(n, v)
	case yaml.SequenceNode:
		v.kind = list
		v.items = make([]*node, len(n.Content))
		for i, c := range n.Content {
			v.items[i] = r.value(c, depth+1)
		}
		r.listTag(n, v)
	case yaml.MappingNode:
		v.kind = mapping
		if tag := explicit(n); tag != "" && tag != "!!map" {
			return r.fail(n, "a mapping tagged %s has no form in JSON: remove the tag", clip(tag))
		}
		r.mapping(n, v, depth)
	}
	return v
}

// explicit is the tag that stands in the file, "" when there is none.
func explicit(n *yaml.Node) string {
	if n.Style&yaml.TaggedStyle == 0 {
		return ""
	}
	return n.ShortTag()
}

const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

func (r *yamlReader) scalar(n *yaml.Node, v *node) {
	var err error
	if r.doubts {
		r.doubt(n)
	}
	switch tag := explicit(n); {
	case tag != "":
		v.kind, v.text, err = tagged(tag, n.Value)
	case n.Style&quoted == 0:
		v.kind, v.text, err = plain(n.Value)
	default:
		v.kind, v.text = text, n.Value
	}
	if err != nil {
		r.fail(n, "%s %v", clip(n.Value), err)
	}
}

// tagged reads a scalar with a tag of its own.
func tagged(tag, s string) (kind, string, error) {
	implicit, lit, err := plain(s)
	switch {
	case tag == "!!str":
		return text, s, nil
	case tag == "!!null":
		return null, "null", nil
	case tag == "!!bool":
		b, ok := booleans[strings.ToUpper(s)]
		if ok {
			return boolean, b, nil
		}
	case tag == "!!int" && implicit == integer:
		return integer, lit, err
	case tag == "!!float" && implicit == float:
		return float, lit, err
	case tag == "!!float" && decimal.MatchString(s):
		lit, err := pythonFloat(s)
		return float, lit, err
	}
	return text, s, fmt.Errorf("with the tag %s has no form in JSON: remove the tag", clip(tag))
}

var decimal = regexp.MustCompile(`^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$`)

// listTag reads the two kinds of lists that have tags of their own: Python has
// pairs in them.
func (r *yamlReader) listTag(n *yaml.Node, v *node) {
	tag := explicit(n)
	if tag == "" || tag == "!!seq" {
		return
	}
	if tag != "!!omap" && tag != "!!pairs" {
		r.fail(n, "a list tagged %s has no form in JSON: remove the tag", clip(tag))
		return
	}
	for i, item := range v.items {
		if item.kind != mapping || len(item.members) != 1 || n.Content[i].Kind != yaml.MappingNode {
			r.fail(n.Content[i], "an item of %s is a mapping with one key", tag)
			continue
		}
		m := item.members[0]
		v.items[i] = &node{kind: list, items: []*node{m.key, m.value}, line: item.line, column: item.column}
	}
}

// clip shortens text of a file for a message.
func clip(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
