package bundler

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

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
