package bundler

import "go.yaml.in/yaml/v3"

// mapping reads the keys of a mapping: first those that << brings, then its
// own, and a later value of a key takes the place of an earlier one.
func (r *yamlReader) mapping(n *yaml.Node, v *node, depth int) {
	var own, brought []member
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, c := n.Content[i], n.Content[i+1]
		if isPlain(k, "<<") || k.Kind == yaml.ScalarNode && explicit(k) == "!!merge" {
			r.weight++
			brought = append(brought, r.merge(c, depth)...)
			continue
		}
		own = append(own, member{r.key(k, depth), r.value(c, depth+1)})
	}
	if !r.unique(n, own) {
		return
	}
	v.members = own
	if len(brought) > 0 {
		v.members = overlay(append(brought, own...))
	}
	r.sortable(n, v)
}

func isPlain(n *yaml.Node, s string) bool {
	return n.Kind == yaml.ScalarNode && n.Value == s && n.Style&(quoted|yaml.TaggedStyle) == 0
}

// key reads a key, which must be a scalar.
func (r *yamlReader) key(k *yaml.Node, depth int) *node {
	if isPlain(k, "=") {
		return &node{kind: text, text: "="}
	}
	v := r.value(k, depth+1)
	if v.kind == list || v.kind == mapping {
		return r.fail(k, "a key cannot be a list or a mapping: write it as text")
	}
	return v
}

// merge gives the members of what << names: a mapping, or a list of mappings
// of which the first wins.
func (r *yamlReader) merge(n *yaml.Node, depth int) []member {
	v := r.value(n, depth+1)
	var all []member
	switch v.kind {
	case mapping:
		all = v.members
	case list:
		for i := len(v.items) - 1; i >= 0; i-- {
			if v.items[i].kind != mapping {
				r.fail(n, "<< takes a mapping or a list of mappings")
				return nil
			}
			if len(all) <= maxMerged {
				all = append(all, v.items[i].members...)
			}
		}
	default:
		r.fail(n, "<< takes a mapping or a list of mappings")
	}
	if r.merged += len(all); r.merged > maxMerged {
		r.fail(n, "merges copy more than %d keys", maxMerged)
		return nil
	}
	return all
}

// identity is what makes two keys one in Python's dict.
func identity(k *node) string {
	switch k.kind {
	case text:
		return "s" + k.text
	case null:
		return "n"
	}
	if x, ok := k.number(); ok {
		return x.RatString()
	}
	return k.text
}

// unique notes keys that a mapping has twice.
func (r *yamlReader) unique(n *yaml.Node, own []member) bool {
	before := len(r.problems)
	duplicates(own, func(again, first *node) {
		r.problems = addDuplicate(r.problems, again, first)
	})
	return len(r.problems) == before
}

// overlay keeps of each key the first place and the last value.
func overlay(all []member) []member {
	at := make(map[string]int, len(all))
	out := make([]member, 0, len(all))
	for _, m := range all {
		id := identity(m.key)
		if i, ok := at[id]; ok {
			out[i].value = m.value
			continue
		}
		at[id] = len(out)
		out = append(out, m)
	}
	return out
}

// sortable notes keys that Python cannot bring in an order.
func (r *yamlReader) sortable(n *yaml.Node, v *node) {
	if odd := unsortable(v.members); odd != nil {
		r.problems = append(r.problems, Problem{Line: int(odd.line), Column: int(odd.column),
			Msg: "the key " + clip(odd.text) + " is no text while another one is, so they have no order: quote it"})
	}
}
