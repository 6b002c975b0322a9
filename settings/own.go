package settings

import (
	"math"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Own are the settings that a native integration reads itself. The zero value is no
// settings.
type Own struct {
	File string // name of the settings file
	At   string // where they stand in the file, such as integrations.a.settings
	Line int    // 0 if there are none
	node *yaml.Node
}

// IsZero reports whether there are no settings.
func (s Own) IsZero() bool { return s.node == nil }

// Mistake returns an error about a value of the settings, with file and line. The path leads
// to the value by keys and positions ("0" is the first item); without a path the error is
// about the settings as a whole. Of a path that leads nowhere, the last value that is there
// gives the line.
func (s Own) Mistake(message string, path ...string) error {
	at, line, n := s.At, s.Line, s.node
	for _, part := range path {
		_, err := strconv.Atoi(part)
		if isKey := n != nil && n.Kind == yaml.MappingNode; isKey || err != nil {
			at += "." + part
		} else {
			at += "[" + part + "]"
		}
		if n = below(n, part); n != nil {
			line = n.Line
		}
	}
	return &Error{File: s.File, Line: line, Msg: at + ": " + message}
}

// below returns the value of a key or at a position of a node, nil if there is none.
func below(n *yaml.Node, part string) *yaml.Node {
	switch {
	case n == nil:
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == part {
				return n.Content[i+1]
			}
		}
	case n.Kind == yaml.SequenceNode:
		if i, err := strconv.Atoi(part); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i]
		}
	}
	return nil
}

// readOwn reads the key settings of an integration. Its native decides what may stand there.
func (r *reader) readOwn(n *yaml.Node, at string) Own {
	r.note(n, constraint{"type": "object"})
	if !r.checkKind(n, yaml.MappingNode, at, "a mapping") {
		return Own{}
	}
	r.readAny(n, at)
	return Own{File: r.File, At: at, Line: n.Line, node: n}
}

// readAny reads a value of any kind: a map by strings, a list, or a scalar as YAML has it.
func (r *reader) readAny(n *yaml.Node, at string) any {
	switch n.Kind {
	case yaml.MappingNode:
		out := map[string]any{}
		for _, e := range r.entries(n, at) {
			out[e.key] = r.readAny(e.value, at+"."+e.key)
		}
		return out
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, item := range n.Content {
			out[i] = r.readAny(item, at+indexSuffix(i))
		}
		return out
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!timestamp" {
		return n.Value // YAML takes a day without quotes for a time
	}
	known := []string{"!!str", "!!int", "!!float", "!!bool", "!!null"}
	var out any
	if n.Kind == yaml.ScalarNode && slices.Contains(known, n.ShortTag()) && n.Decode(&out) == nil {
		if f, ok := out.(float64); !ok || !math.IsNaN(f) && !math.IsInf(f, 0) {
			return out
		}
	}
	r.fail(n.Line, at, "must be a string, a number, a truth value, a list or a mapping, got %s", describeNode(n))
	return nil
}

// value returns the settings without lines, for a comparison.
func (s Own) value() any {
	if s.node == nil {
		return nil
	}
	return new(reader).readAny(s.node, s.At)
}
