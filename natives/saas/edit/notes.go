package edit

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// parentType is the type of the only promotion data that are written.
const parentType = "parent_saas_config"

// setNotes sets the config hashes of a target's promotion data, and adds those that are not
// there.
func (e *editor) setNotes(root, target *yaml.Node, notes []Note) error {
	promotion, err := child(target, "promotion")
	switch {
	case err != nil:
		return err
	case promotion == nil:
		return refuse("the target in line %d has no promotion", target.Line)
	}
	if err := plain(promotion, yaml.MappingNode); err != nil {
		return err
	}
	data, err := child(promotion, "promotion_data")
	if err != nil {
		return err
	}
	if data != nil {
		if err := plain(data, yaml.SequenceNode); err != nil {
			return err
		}
	}
	var missing []Note
	for _, n := range notes {
		parent, err := parentOf(data, n)
		switch {
		case err != nil:
			return err
		case parent == nil:
			missing = append(missing, n)
		default:
			if err := e.set(parent, "target_config_hash", n.Hash); err != nil {
				return err
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return e.add(root, promotion, data, missing)
}

// parentOf returns the entry of promotion data for a channel and a saas file, nil if there is
// none.
func parentOf(data *yaml.Node, n Note) (*yaml.Node, error) {
	if data == nil {
		return nil, nil
	}
	var found *yaml.Node
	for _, entry := range data.Content {
		if err := plain(entry, yaml.MappingNode); err != nil {
			return nil, err
		}
		channel, err := word(entry, "channel")
		if err != nil {
			return nil, err
		}
		parents, err := child(entry, "data")
		if err != nil {
			return nil, err
		}
		if channel != n.Channel || parents == nil || parents.Tag == "!!null" {
			continue
		}
		if err := plain(parents, yaml.SequenceNode); err != nil {
			return nil, err
		}
		for _, p := range parents.Content {
			if err := plain(p, yaml.MappingNode); err != nil {
				return nil, err
			}
			switch saas, err := word(p, "parent_saas"); {
			case err != nil:
				return nil, err
			case saas != n.Saas:
			case found != nil:
				return nil, refuse("line %d notes %s in the channel %s for the second time", p.Line, n.Saas, n.Channel)
			default:
				found = p
			}
		}
	}
	return found, nil
}

// add adds entries to promotion data, and the list if it is not there. A file in flow style gets
// flow style.
func (e *editor) add(root, promotion, data *yaml.Node, notes []Note) error {
	if e.adds == nil {
		e.adds = map[*yaml.Node][]*yaml.Node{}
	}
	var nodes []*yaml.Node
	for _, n := range notes {
		nodes = append(nodes, entryNode(n))
	}
	in := data // what gets more
	if data == nil {
		in = promotion
		e.adds[in] = []*yaml.Node{scalarNode("promotion_data"), {Kind: yaml.SequenceNode, Content: nodes}}
	} else {
		e.adds[in] = nodes
	}
	if in.Style&yaml.FlowStyle != 0 {
		return e.addFlow(in, data == nil, notes)
	}
	end, err := e.text.endOf(in)
	if err != nil {
		return err
	}
	// Lists stand below their key, or are indented: as in the neighbours.
	shift := indentation(promotion)
	if shift < 0 {
		shift = max(indentation(root), 0)
	}
	var lines []string
	indent := in.Column - 1
	if data == nil {
		lines = append(lines, strings.Repeat(" ", indent)+"promotion_data:")
		indent += shift
	}
	for _, n := range notes {
		lines = append(lines, entryLines(n, indent, shift)...)
	}
	text := ""
	for _, l := range lines {
		text += e.text.end + l
	}
	e.cuts = append(e.cuts, cut{from: e.text.lineEnd(end), text: text})
	return nil
}

// entryLines returns an entry in block style.
func entryLines(n Note, indent, shift int) []string {
	first := strings.Repeat(" ", indent)
	inner := first + "  " + strings.Repeat(" ", shift)
	return []string{
		first + "- channel: " + quoted(n.Channel),
		first + "  data:",
		inner + "- parent_saas: " + quoted(n.Saas),
		inner + "  target_config_hash: " + quoted(n.Hash),
		inner + "  type: " + parentType,
	}
}

// addFlow adds entries to a list or a mapping in flow style.
func (e *editor) addFlow(in *yaml.Node, isNew bool, notes []Note) error {
	at, err := e.flowEnd(in)
	if err != nil {
		return err
	}
	var entries []string
	for _, n := range notes {
		entries = append(entries, fmt.Sprintf("{channel: %s, data: [{parent_saas: %s, target_config_hash: %s, type: %s}]}",
			quoted(n.Channel), quoted(n.Saas), quoted(n.Hash), parentType))
	}
	text := strings.Join(entries, ", ")
	if isNew {
		text = "promotion_data: [" + text + "]"
	}
	if len(in.Content) > 0 {
		text = ", " + text
	}
	e.cuts = append(e.cuts, cut{from: at, text: text})
	return nil
}

// flowEnd returns where something can be added to a list or a mapping in flow style: after its
// last element, so before a comma or a comment that follows.
func (e *editor) flowEnd(in *yaml.Node) (int, error) {
	from, err := e.text.offset(in)
	if err != nil || len(in.Content) == 0 {
		return from + 1, err
	}
	if at, err := e.text.endOf(in.Content[len(in.Content)-1]); err == nil {
		return at, nil
	}
	at, err := e.text.closing(from)
	for err == nil && strings.IndexByte(" \t\r\n", e.text.raw[at-1]) >= 0 {
		at--
	}
	return at, err
}

// indentation returns by how much lists are indented below their keys, -1 if there is no list in
// block style.
func indentation(node *yaml.Node) int {
	for i, c := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 1 && c.Kind == yaml.SequenceNode && c.Style&yaml.FlowStyle == 0 &&
			len(c.Content) > 0 {
			return max(c.Column-node.Content[i-1].Column, 0)
		}
	}
	for _, c := range node.Content {
		if n := indentation(c); n >= 0 {
			return n
		}
	}
	return -1
}

// entryNode returns an entry as the parser reads it.
func entryNode(n Note) *yaml.Node {
	parent := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
		scalarNode("parent_saas"), scalarNode(n.Saas), scalarNode("target_config_hash"), scalarNode(n.Hash),
		scalarNode("type"), scalarNode(parentType)}}
	return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
		scalarNode("channel"), scalarNode(n.Channel), scalarNode("data"),
		{Kind: yaml.SequenceNode, Content: []*yaml.Node{parent}}}}
}

func scalarNode(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}

// quoted returns a text as a scalar of YAML, in quotes if it needs them.
func quoted(s string) string {
	if isPlain(s) {
		return s
	}
	raw, err := json.Marshal(s) // strings of JSON are strings of YAML
	if err != nil {
		return "''"
	}
	return string(raw)
}
