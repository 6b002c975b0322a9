package template

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Value returns the document as decoded JSON: maps, lists, texts, booleans, nil, and numbers as
// int64, float64 or (from 2^63) json.Number.
func (d *Document) Value() (any, error) {
	r := &reader{doc: d, left: maxValues, bytes: maxDocument, open: map[*yaml.Node]bool{}}
	return r.value(d.root, 0)
}

// A reader makes values of nodes. It counts values and bytes, since aliases repeat them.
type reader struct {
	doc         *Document
	left, bytes int
	open        map[*yaml.Node]bool // nodes that are being read
}

func (r *reader) value(n *yaml.Node, depth int) (any, error) {
	line := n.Line
	n = follow(n)
	r.left--
	r.bytes -= len(n.Value)
	switch {
	case r.open[n]:
		return nil, r.doc.lineErrorf(line, "an anchor holds an alias of itself")
	case depth > maxDepth:
		return nil, r.doc.lineErrorf(line, "it is nested deeper than %d levels", maxDepth)
	case r.left < 0 || r.bytes < 0:
		return nil, r.doc.lineErrorf(line, "its aliases make the document too large")
	}
	r.open[n] = true
	defer delete(r.open, n)
	switch n.Kind {
	case yaml.MappingNode:
		return r.mapping(n, depth)
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			value, err := r.value(item, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, value)
		}
		return out, nil
	}
	return r.scalar(n)
}

// mapping returns a map. Keys of the map itself win over those that it merges with "<<".
func (r *reader) mapping(n *yaml.Node, depth int) (any, error) {
	out, merged := map[string]any{}, map[string]any{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := follow(n.Content[i])
		if key.Kind != yaml.ScalarNode {
			return nil, r.doc.lineErrorf(n.Content[i].Line, "a key must be a text")
		}
		value, err := r.value(n.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		if key.ShortTag() == "!!merge" {
			if err := merge(merged, value); err != nil {
				return nil, r.doc.lineErrorf(key.Line, "%w", err)
			}
			continue
		}
		r.bytes -= len(key.Value)
		if _, isTwice := out[key.Value]; isTwice {
			return nil, r.doc.lineErrorf(key.Line, "the key %.80q stands here twice", key.Value)
		}
		out[key.Value] = value
	}
	if r.left -= len(merged); r.left < 0 {
		return nil, r.doc.lineErrorf(n.Line, "its aliases make the document too large")
	}
	for key, value := range merged {
		if _, isOwn := out[key]; !isOwn {
			out[key] = value
		}
	}
	return out, nil
}

// merge adds the keys of a map, or of a list of maps, that are not there yet.
func merge(into map[string]any, value any) error {
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	for _, one := range list {
		of, ok := one.(map[string]any)
		if !ok {
			return errors.New("only maps can be merged")
		}
		for key, value := range of {
			if _, isThere := into[key]; !isThere {
				into[key] = value
			}
		}
	}
	return nil
}

func (r *reader) scalar(n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!str", "!!timestamp":
		return n.Value, nil
	case "!!bool":
		if value, err := strconv.ParseBool(strings.ToLower(n.Value)); err == nil {
			return value, nil
		}
	}
	var out any
	if err := n.Decode(&out); err != nil || n.ShortTag() == "!!binary" {
		return nil, r.doc.lineErrorf(n.Line, "%.80q cannot be read", n.Value)
	}
	switch value := out.(type) {
	case int:
		return int64(value), nil
	case uint64:
		return json.Number(strconv.FormatUint(value, 10)), nil
	case float64:
		if math.IsInf(value, 0) || math.IsNaN(value) {
			return nil, r.doc.lineErrorf(n.Line, "%s is no number of JSON", n.Value)
		}
		return value, nil
	case int64, string, bool:
		return value, nil
	}
	return nil, r.doc.lineErrorf(n.Line, "a value of the type %.40s cannot be read", n.ShortTag())
}
