package bundler

import "encoding/json"

// ReadMapping reads a text that is YAML with one mapping, as the bundler reads datafiles: scalars are those of PyYAML.
// Numbers are [json.Number] in the spelling of Python. It is not ok for every other text, for a key that is no text,
// and for a value that JSON does not have.
func ReadMapping(raw []byte) (mapping map[string]any, ok bool) {
	n, problems := readYAML(raw)
	if len(problems) > 0 || n == nil {
		return nil, false
	}
	v, ok := plainValue(n)
	mapping, isMapping := v.(map[string]any)
	return mapping, ok && isMapping
}

// plainValue returns a node as a value of JSON.
func plainValue(n *node) (any, bool) {
	switch n.kind {
	case null:
		return nil, true
	case text:
		return n.text, true
	case boolean:
		return n.text == "true", true
	case list:
		out := make([]any, len(n.items))
		for i, item := range n.items {
			v, ok := plainValue(item)
			if !ok {
				return nil, false
			}
			out[i] = v
		}
		return out, true
	case mapping:
		out := make(map[string]any, len(n.members))
		for _, m := range n.members {
			v, ok := plainValue(m.value)
			if _, isTwice := out[m.key.text]; !ok || isTwice || m.key.kind != text {
				return nil, false
			}
			out[m.key.text] = v
		}
		return out, true
	}
	return json.Number(n.text), json.Valid([]byte(n.text))
}
