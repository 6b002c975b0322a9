package settings

import (
	"maps"

	"go.yaml.in/yaml/v3"
)

// A constraint is what the reader wants of a value, with the keywords of JSON Schema, such as
// {"type": "string", "minLength": 1}.
type constraint map[string]any

// uniqueItem is a keyword of our own on the items of a list whose items must be different.
const uniqueItem = "x-unique"

// note remembers a constraint on a value. The constraints on one value hold together. [Schema]
// is made from them, so each function that reads a value notes what it wants before it looks
// at the value. When the settings are only read, nothing is remembered.
func (r *reader) note(n *yaml.Node, want constraint) {
	if r.notes == nil {
		return
	}
	noted := r.notes[n]
	if noted == nil {
		noted = constraint{}
		r.notes[n] = noted
	}
	if required, ok := want["required"].([]string); ok {
		before, _ := noted["required"].([]string)
		noted["required"] = append(before, required...)
		return
	}
	maps.Copy(noted, want)
}

// noteItems remembers a constraint on each item of a list.
func (r *reader) noteItems(items []*yaml.Node, want constraint) {
	for _, n := range items {
		r.note(n, want)
	}
}

// word reports whether a value is one of some words, for a key that also takes something
// else.
func (r *reader) word(n *yaml.Node, words ...string) (string, bool) {
	if n.Kind != yaml.ScalarNode {
		return "", false
	}
	r.note(n, constraint{"enum": words})
	for _, w := range words {
		if n.Value == w {
			return w, true
		}
	}
	return "", false
}

// The forms of texts with a unit.
var (
	durationText = constraint{"type": "string",
		"pattern": `^[+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))*$`}
	memoryText = constraint{"type": "string", "pattern": memoryPattern.String()}
	rateText   = constraint{"type": "string", "pattern": `^0{0,3}[1-9][0-9]{0,3}/(s|min|h)$`}
)

// noneOrDuration is the constraint on a key that takes a duration or "none".
var noneOrDuration = constraint{"anyOf": []constraint{{"enum": []string{"none"}}, durationText}}
