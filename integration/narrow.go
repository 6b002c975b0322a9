package integration

import (
	"bytes"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// NarrowedYAML returns the definition as YAML with fewer allowed schemas: of those that
// it allows now, only the ones in read and [RequiredSchemas] stay, in their order. The
// YAML has no comments, since a bundle holds none.
func (d Definition) NarrowedYAML(read []bundle.SchemaPath) ([]byte, error) {
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, m := range d.object.Members() {
		switch m.Key {
		case "path", "$file_sha256sum", "__identifier": // the bundler adds these
			continue
		case "schemas":
			m.Value = keepSchemas(d.Schemas, slices.Concat(RequiredSchemas(), read))
		}
		root.Content = append(root.Content, yamlString(m.Key), yamlNode(m.Value))
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return nil, fmt.Errorf("writing the definition of %q: %w", d.Name, err)
	}
	return append([]byte("---\n"), out.Bytes()...), nil
}

// keepSchemas returns the schemas of allowed that are in keep.
func keepSchemas(allowed, keep []bundle.SchemaPath) []any {
	list := []any{}
	for _, s := range allowed {
		if slices.Contains(keep, s) {
			list = append(list, string(s))
		}
	}
	return list
}

// yamlNode returns a JSON value as a YAML node. Numbers keep their spelling.
func yamlNode(v any) *yaml.Node {
	switch v := v.(type) {
	case string:
		return yamlString(v)
	case bundle.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: string(v)}
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(v)}
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range v {
			n.Content = append(n.Content, yamlNode(item))
		}
		return n
	case *bundle.Object:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, m := range v.Members() {
			if m.Key != "__identifier" {
				n.Content = append(n.Content, yamlString(m.Key), yamlNode(m.Value))
			}
		}
		return n
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
}

// yamlString returns a string as a YAML node. The string is quoted if a reader of YAML
// 1.1 or 1.2 would take it for another type, such as a number.
func yamlString(s string) *yaml.Node {
	n := &yaml.Node{}
	if err := n.Encode(s); err != nil { // s is not valid UTF-8
		n.SetString(s)
	}
	return n
}
