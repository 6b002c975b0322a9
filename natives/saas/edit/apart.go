package edit

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// tellApart returns those of several targets that have all that a change says to tell them apart: one that has half
// of it is another target, also if no other one has more.
func tellApart(found []*yaml.Node, c Change) ([]*yaml.Node, error) {
	if len(found) < 2 {
		return found, nil
	}
	var err error
	if c.Channels != nil {
		found, err = those(found, func(t *yaml.Node) (bool, error) { return isPromotedFrom(t, c.Channels) })
	}
	if c.Selector != nil && err == nil {
		found, err = those(found, func(t *yaml.Node) (bool, error) { return selects(t, *c.Selector) })
	}
	return found, err
}

// those returns the nodes for which a condition holds.
func those(nodes []*yaml.Node, holds func(*yaml.Node) (bool, error)) ([]*yaml.Node, error) {
	var out []*yaml.Node
	for _, n := range nodes {
		ok, err := holds(n)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, n)
		}
	}
	return out, nil
}

// isPromotedFrom reports whether a target is promoted automatically from exactly these channels, in any order.
func isPromotedFrom(target *yaml.Node, channels []string) (bool, error) {
	promotion, err := below(target, "promotion")
	if err != nil || promotion == nil {
		return false, err
	}
	auto, err := word(promotion, "auto")
	if err != nil || !slices.Contains([]string{"true", "yes", "on"}, strings.ToLower(auto)) { // the words of YAML 1.1
		return false, err
	}
	is, err := words(promotion, "subscribe")
	same := func(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }
	return slices.Equal(same(is), same(channels)), err
}

// selects reports whether a target has exactly this selector.
func selects(target *yaml.Node, want Selector) (bool, error) {
	selector, err := below(target, "namespaceSelector")
	if err != nil || selector == nil {
		return false, err
	}
	paths, err := below(selector, "jsonPathSelectors")
	if err != nil || paths == nil {
		return false, err
	}
	include, err := words(paths, "include")
	if err != nil {
		return false, err
	}
	exclude, err := words(paths, "exclude")
	return slices.Equal(include, want.Include) && slices.Equal(exclude, want.Exclude), err
}

// below returns the mapping below a key, nil if there is none.
func below(mapping *yaml.Node, key string) (*yaml.Node, error) {
	node, err := child(mapping, key)
	if err != nil || node == nil || node.ShortTag() == "!!null" {
		return nil, err
	}
	return node, plain(node, yaml.MappingNode)
}

// words returns the texts of the list below a key.
func words(mapping *yaml.Node, key string) ([]string, error) {
	node, err := child(mapping, key)
	if err != nil || node == nil || node.ShortTag() == "!!null" {
		return nil, err
	}
	if err := plain(node, yaml.SequenceNode); err != nil {
		return nil, err
	}
	var out []string
	for _, item := range node.Content {
		if err := plain(item, yaml.ScalarNode); err != nil {
			return nil, err
		}
		out = append(out, item.Value)
	}
	return out, nil
}
