package bundler

import (
	"fmt"
	"slices"
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

// readMapping reads the members of a mapping: first those that << merges into it,
// then its own. A later value of a key replaces an earlier one.
func (r *yamlReader) readMapping(n *yaml.Node, v *node, depth int) {
	var own, brought []member
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, c := n.Content[i], n.Content[i+1]
		if isPlainScalar(k, "<<") || k.Kind == yaml.ScalarNode && explicitTag(k) == "!!merge" {
			r.weight++
			brought = append(brought, r.readMerge(c, depth)...)
			continue
		}
		own = append(own, member{r.readKey(k, depth), r.readValue(c, depth+1)})
	}
	own = slices.DeleteFunc(own, func(m member) bool { return m.key.isUnread() })
	if !r.checkUnique(n, own) {
		return
	}
	v.members = own
	if len(brought) > 0 {
		v.members = overlayMembers(append(brought, own...))
	}
	r.checkSortable(n, v)
}

// isPlainScalar reports whether a node is the given text without quotes and tag.
func isPlainScalar(n *yaml.Node, s string) bool {
	return n.Kind == yaml.ScalarNode && n.Value == s && n.Style&(quoted|yaml.TaggedStyle) == 0
}

// readKey reads a key, which must be a scalar.
func (r *yamlReader) readKey(k *yaml.Node, depth int) *node {
	if isPlainScalar(k, "=") {
		return &node{kind: text, text: "="}
	}
	v := r.readValue(k, depth+1)
	if v.kind == list || v.kind == mapping {
		return r.addProblem(k, "a key cannot be a list or a mapping: write it as text")
	}
	return v
}

// readMerge returns the members that << merges: those of a mapping, or of a list of
// mappings. The first mapping of a list comes last, so that its values win.
func (r *yamlReader) readMerge(n *yaml.Node, depth int) []member {
	v := r.readValue(n, depth+1)
	var all []member
	switch v.kind {
	case mapping:
		all = v.members
	case list:
		for i := len(v.items) - 1; i >= 0; i-- {
			if v.items[i].kind != mapping {
				r.addProblem(n, "the value of << must be a mapping or a list of mappings")
				return nil
			}
			if len(all) <= maxMerged {
				all = append(all, v.items[i].members...)
			}
		}
	default:
		if !v.isUnread() {
			r.addProblem(n, "the value of << must be a mapping or a list of mappings")
		}
	}
	if r.merged += len(all); r.merged > maxMerged {
		r.addProblem(n, "merges copy more than %d keys", maxMerged)
		return nil
	}
	return all
}

// keyIdentity returns a text that is the same for keys that are equal in Python's
// dict.
func keyIdentity(k *node) string {
	switch k.kind {
	case text:
		return "s" + k.text
	case null:
		return "n"
	}
	if x, ok := k.rational(); ok {
		return x.RatString()
	}
	return k.text
}

// checkUnique adds a problem for each duplicate key of a mapping, and reports whether
// there was none.
func (r *yamlReader) checkUnique(n *yaml.Node, own []member) bool {
	before := len(r.problems)
	findDuplicates(own, func(again, first *node) {
		r.problems = addDuplicateProblem(r.problems, again, first)
	})
	return len(r.problems) == before
}

// overlayMembers returns one member per key, at the first place of the key and with
// its last value.
func overlayMembers(all []member) []member {
	at := make(map[string]int, len(all))
	out := make([]member, 0, len(all))
	for _, m := range all {
		id := keyIdentity(m.key)
		if i, ok := at[id]; ok {
			out[i].value = m.value
			continue
		}
		at[id] = len(out)
		out = append(out, m)
	}
	return out
}

// checkSortable adds a problem if Python cannot sort the keys of a mapping.
func (r *yamlReader) checkSortable(n *yaml.Node, v *node) {
	if odd := findUnsortable(v.members); odd != nil {
		r.problems = append(r.problems, Problem{Line: int(odd.line), Column: int(odd.column),
			Msg: "the key " + quoteShort(odd.text) + " is not text but another key is, so the keys cannot be sorted: quote it"})
	}
}
