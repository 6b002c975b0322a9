package settings

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The parts of a path into the settings that are no keys: any key of a mapping, and the
// items of a list.
const (
	anyKey = "*"
	anItem = "[]"
)

// Schema returns the JSON Schema of prcheck.yaml, for editors and other programs.
//
// It is not written by hand but asked from the reader of the settings: at each place the
// reader gets a text, a list and a mapping, and notes what it wants of them (see
// reader.note). So a new key is in the schema as soon as it can be read. What a
// schema cannot say, such as that a pattern must be a regular expression, only the reader
// checks: the schema accepts all that the reader accepts, and some more.
func Schema() ([]byte, error) {
	schema, err := describeValue(nil)
	if err != nil {
		return nil, err
	}
	schema["$schema"] = "http://json-schema.org/draft-07/schema#" // the version that most editors know
	schema["title"] = "prcheck.yaml"
	schema["description"] = "How prcheck starts integrations, and what it knows about each of them."
	raw, err := json.MarshalIndent(schema, "", "  ")
	return append(raw, '\n'), err
}

// describeValue returns the schema of the values at a path.
func describeValue(path []string) (constraint, error) {
	var forms []constraint
	for _, probe := range probes() {
		if form := askReader(path, probe); form != nil && !slices.ContainsFunc(forms, form.equals) {
			forms = append(forms, form)
		}
	}
	if len(forms) == 0 {
		return nil, fmt.Errorf("the reader of the settings notes nothing about %s", strings.Join(path, "."))
	}
	for _, form := range forms {
		if err := describeParts(form, path); err != nil {
			return nil, err
		}
	}
	schema := forms[0]
	if len(forms) > 1 {
		schema = constraint{"anyOf": forms}
	}
	if text := describeKey(path); text != "" {
		schema["description"] = text
	}
	return schema, nil
}

// probes returns a value of each kind.
func probes() []*yaml.Node {
	return []*yaml.Node{
		textNode("x"),
		{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{textNode("x")}},
		{Kind: yaml.MappingNode, Tag: "!!map"},
	}
}

func textNode(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

// askReader lets the reader read settings with a probe at a path, and returns what it noted
// about the probe, or nil if it noted nothing.
func askReader(path []string, probe *yaml.Node) constraint {
	root := probe
	for _, part := range slices.Backward(path) {
		switch part {
		case anItem:
			root = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{root}}
		case anyKey:
			part = "x"
			fallthrough
		default:
			root = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{textNode(part), root}}
		}
	}
	r := &reader{misspelt: map[*yaml.Node]bool{}, notes: map[*yaml.Node]constraint{}}
	r.readSettings(root, &Settings{})
	return r.notes[probe]
}

// describeParts puts the schemas of keys and items into a form.
func describeParts(form constraint, path []string) error {
	if keys, ok := form["properties"].([]string); ok {
		properties := map[string]constraint{}
		for _, key := range keys {
			value, err := describeValue(append(slices.Clip(path), key))
			if err != nil {
				return err
			}
			properties[key] = value
		}
		form["properties"] = properties
	}
	if form["additionalProperties"] == true {
		value, err := describeValue(append(slices.Clip(path), anyKey))
		if err != nil {
			return err
		}
		form["additionalProperties"] = value
	}
	if form["type"] == "array" {
		items, err := describeValue(append(slices.Clip(path), anItem))
		if err != nil {
			return err
		}
		if items[uniqueItem] == true {
			delete(items, uniqueItem)
			form["uniqueItems"] = true
		}
		form["items"] = items
	}
	return nil
}

// equals reports whether two constraints say the same.
func (c constraint) equals(other constraint) bool {
	one, _ := json.Marshal(c) // maps, lists, texts and numbers
	two, _ := json.Marshal(other)
	return string(one) == string(two)
}
