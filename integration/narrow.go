package integration

import (
	"bytes"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/bundle"
)

// Narrowed writes a definition down as YAML, allowed to read nothing but some of
// the schemas it is allowed now and those that every definition must allow. The
// order of the schemas stays; comments are not in a bundle and so not here.
func (d Definition) Narrowed(read []bundle.Schema) ([]byte, error) {
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, m := range d.object.Members() {
		switch m.Key {
		case "path", "$file_sha256sum", "__identifier": // not in the file
			continue
		case "schemas":
			m.Value = narrow(d.Schemas, slices.Concat(RequiredSchemas(), read))
		}
		root.Content = append(root.Content, textNode(m.Key), node(m.Value))
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return nil, fmt.Errorf("writing the definition of %q: %w", d.Name, err)
	}
	return append([]byte("---\n"), out.Bytes()...), nil
}

func narrow(allowed, keep []bundle.Schema) []any {
	list := []any{}
	for _, s := range allowed {
		if slices.Contains(keep, s) {
			list = append(list, string(s))
		}
	}
	return list
}

// node returns a JSON value as YAML. Numbers keep their literal.
func node(v any) *yaml.Node {
	switch v := v.(type) {
	case string:
		return textNode(v)
	case bundle.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: string(v)}
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(v)}
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range v {
			n.Content = append(n.Content, node(item))
		}
		return n
	case *bundle.Object:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, m := range v.Members() {
			if m.Key != "__identifier" {
				n.Content = append(n.Content, textNode(m.Key), node(m.Value))
			}
		}
		return n
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
}

// textNode returns a string, quoted when it would be read as something else, by
// YAML 1.1 as well.
func textNode(s string) *yaml.Node {
	n := &yaml.Node{}
	if err := n.Encode(s); err != nil { // only of what is no text at all
		n.SetString(s)
	}
	return n
}
