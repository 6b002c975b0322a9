package bundler

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// A yamlReader converts the nodes of the parser to values as PyYAML does, and
// collects problems.
type yamlReader struct {
	raw       []byte
	ambiguous bool     // the file matches ambiguousPattern
	lines     []string // see lineStarts; nil until they are needed
	problems  []Problem
	anchors   map[string]bool
	shared    map[*yaml.Node]*node // values with an anchor; nil while the value is being read
	weights   map[*node]int        // bytes of the values with an anchor
	weight    int                  // bytes of text so far, with aliases replaced by their values
	merged    int                  // number of keys that merges copied so far
}

// addProblem adds a problem at a node, and returns an empty value.
func (r *yamlReader) addProblem(n *yaml.Node, format string, args ...any) *node {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, Problem{Line: n.Line, Column: n.Column, Msg: fmt.Sprintf(format, args...)})
	}
	return &node{}
}

// readValue reads a node with everything below it.
func (r *yamlReader) readValue(n *yaml.Node, depth int) *node {
	if depth > maxDepth {
		return r.addProblem(n, "is more than %d levels deep", maxDepth)
	}
	if n.Kind == yaml.AliasNode {
		return r.readAlias(n)
	}
	if n.Anchor == "" {
		return r.readNode(n, depth)
	}
	if r.anchors[n.Anchor] {
		return r.addProblem(n, "the anchor &%s occurs twice: rename one", quoteShort(n.Anchor))
	}
	if r.anchors == nil {
		r.anchors, r.shared, r.weights = map[string]bool{}, map[*yaml.Node]*node{}, map[*node]int{}
	}
	r.anchors[n.Anchor] = true
	r.shared[n] = nil
	before := r.weight
	v := r.readNode(n, depth)
	r.shared[n] = v
	r.weights[v] = r.weight - before
	return v
}

// readAlias returns the value of the anchor that an alias names.
func (r *yamlReader) readAlias(n *yaml.Node) *node {
	v, seen := r.shared[n.Alias]
	switch {
	case !seen:
		return r.addProblem(n, "the alias *%s has no anchor before it", quoteShort(n.Value))
	case v == nil:
		return r.addProblem(n, "the alias *%s is inside of the value that it repeats, so the value has no end",
			quoteShort(n.Value))
	}
	if r.weight += r.weights[v]; r.weight > maxExpanded {
		return r.addProblem(n, "aliases make this file larger than %d MiB", maxExpanded>>20)
	}
	return v
}

// readNode reads a node that is not an alias.
func (r *yamlReader) readNode(n *yaml.Node, depth int) *node {
	r.weight += 1 + len(n.Value)
	if r.weight > maxExpanded {
		return r.addProblem(n, "aliases make this file larger than %d MiB", maxExpanded>>20)
	}
	v := &node{line: int32(n.Line), column: int32(n.Column)}
	switch n.Kind {
	case yaml.ScalarNode:
		r.readScalar(n, v)
	case yaml.SequenceNode:
		v.kind = list
		v.items = make([]*node, len(n.Content))
		for i, c := range n.Content {
			v.items[i] = r.readValue(c, depth+1)
		}
		r.readListTag(n, v)
	case yaml.MappingNode:
		v.kind = mapping
		if tag := explicitTag(n); tag != "" && tag != "!!map" {
			return r.addProblem(n, "a mapping tagged %s cannot be expressed in JSON: remove the tag", quoteShort(tag))
		}
		r.readMapping(n, v, depth)
	}
	return v
}

// explicitTag returns the tag of a node that is written in the file, "" if there is
// none.
func explicitTag(n *yaml.Node) string {
	if n.Style&yaml.TaggedStyle == 0 {
		return ""
	}
	return n.ShortTag()
}

// quoted has the styles of scalars that are text whatever they look like.
const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// readScalar sets the kind and the text of v from a scalar.
func (r *yamlReader) readScalar(n *yaml.Node, v *node) {
	var err error
	if r.ambiguous {
		r.checkAmbiguous(n)
	}
	if n.Style&quoted == 0 && strings.HasSuffix(n.Value, ":") {
		r.checkColon(n)
	}
	switch tag := explicitTag(n); {
	case tag != "":
		v.kind, v.text, err = resolveTagged(tag, n.Value)
	case n.Style&quoted == 0:
		v.kind, v.text, err = resolvePlain(n.Value)
	default:
		v.kind, v.text = text, n.Value
	}
	if err != nil {
		r.addProblem(n, "%s %v", quoteShort(n.Value), err)
	}
}

// resolveTagged returns the kind and the text of a scalar with a tag.
func resolveTagged(tag, s string) (kind, string, error) {
	implicit, lit, err := resolvePlain(s)
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
		lit, err := formatYAMLFloat(s)
		return float, lit, err
	}
	return text, s, fmt.Errorf("with the tag %s cannot be expressed in JSON: remove the tag", quoteShort(tag))
}

// decimal matches the decimal numbers that the tag !!float accepts.
var decimal = lazyregexp.New(`^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$`)

// readListTag changes the items of lists with the tags !!omap and !!pairs: in Python
// these are pairs of key and value. Other tags of lists are refused.
func (r *yamlReader) readListTag(n *yaml.Node, v *node) {
	tag := explicitTag(n)
	if tag == "" || tag == "!!seq" {
		return
	}
	if tag != "!!omap" && tag != "!!pairs" {
		r.addProblem(n, "a list tagged %s cannot be expressed in JSON: remove the tag", quoteShort(tag))
		return
	}
	for i, item := range v.items {
		if item.kind != mapping || len(item.members) != 1 || n.Content[i].Kind != yaml.MappingNode {
			r.addProblem(n.Content[i], "an item of %s must be a mapping with one key", tag)
			continue
		}
		m := item.members[0]
		v.items[i] = &node{kind: list, items: []*node{m.key, m.value}, line: item.line, column: item.column}
	}
}

// quoteShort returns text of a file in quotes for a message, shortened if it is long.
func quoteShort(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
