package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"path"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
	"go.yaml.in/yaml/v3"
)

// IsYAML reports whether a document is read as YAML, by its name. Others are JSON.
func IsYAML(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".yaml" || ext == ".yml"
}

// parseYAML reads a YAML text as the JSON text that says the same. Keys are taken as they are
// written, such as 200 for an answer, and numbers keep all digits. A key that stands twice, a
// merge key, a second document, and what JSON cannot say are mistakes. An alias counts as the
// values that it stands for.
func parseYAML(raw []byte, limits Limits) (*Value, error) {
	if i := invalidUTF8(raw); i >= 0 {
		return nil, &syntaxError{1 + bytes.Count(raw[:i], []byte("\n")), "it is not valid UTF-8"}
	}
	if mayHave(raw) > limits.Values {
		return nil, &syntaxError{1, "it has too many values"}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	var root, second yaml.Node
	if err := decoder.Decode(&root); err != nil {
		return nil, notYAML(err)
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		return nil, &syntaxError{second.Line, "there is a second document"}
	case !errors.Is(err, io.EOF):
		return nil, notYAML(err)
	}
	c := converter{values: limits.Values, depth: limits.Depth}
	return c.value(root.Content[0], nil)
}

func notYAML(err error) error {
	return fmt.Errorf("it is no YAML: %.200s", strings.TrimPrefix(err.Error(), "yaml: "))
}

// mayHave returns a low estimate of how many values a text has, by half of the marks that begin
// values: texts have such marks, too. It bounds the memory of the YAML reader, which makes all values before
// they can be counted.
func mayHave(raw []byte) int {
	n := 0
	for _, mark := range []string{":", ",", "-", "?", "[", "{"} {
		n += bytes.Count(raw, []byte(mark))
	}
	return n / 2
}

// A converter makes values of the nodes of a YAML document.
type converter struct{ values, depth int } // that may still be made and opened

func wrongNode(n *yaml.Node, format string, args ...any) error {
	return &syntaxError{n.Line, fmt.Sprintf(format, args...)}
}

func (c *converter) value(n *yaml.Node, parent *Value) (*Value, error) {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if c.values--; c.values < 0 {
		return nil, wrongNode(n, "it has too many values")
	}
	v := &Value{parent: parent}
	if n.Kind == yaml.ScalarNode {
		return v, scalar(v, n)
	}
	if c.depth--; c.depth < 0 {
		return nil, wrongNode(n, "its values are nested too deeply")
	}
	defer func() { c.depth++ }()
	if n.Kind == yaml.SequenceNode {
		v.Kind = Array
		for _, item := range n.Content {
			if err := c.add(v, item); err != nil {
				return nil, err
			}
		}
		return v, nil
	}
	v.Kind = Object
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode:
			return nil, wrongNode(key, "a key is a text")
		case key.ShortTag() == "!!merge":
			return nil, wrongNode(key, "merge keys are not read: write the keys out")
		case !v.addName(key.Value):
			return nil, wrongNode(key, "%s", twice(v, key.Value))
		}
		if err := c.add(v, n.Content[i+1]); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// add adds an item to a list or an object.
func (c *converter) add(to *Value, n *yaml.Node) error {
	item, err := c.value(n, to)
	to.items = append(to.items, item)
	return err
}

// scalar sets a value to that of a node.
func scalar(v *Value, n *yaml.Node) error {
	v.Kind, v.text = String, n.Value
	switch tag := n.ShortTag(); tag {
	case "!!str", "!!timestamp":
		if n.Style == 0 && isNumber(n.Value) { // too large for the YAML reader
			v.Kind = Number
		}
	case "!!null":
		v.Kind, v.text = Null, "null"
	case "!!bool":
		v.Kind, v.text = Bool, strings.ToLower(n.Value)
	case "!!int", "!!float":
		text, ok := numberOf(n.Value)
		if !ok {
			return wrongNode(n, "%s is no number that JSON has", phrase.Cut(n.Value, maxQuoted))
		}
		v.Kind, v.text = Number, text
	default:
		return wrongNode(n, "JSON has no value of the tag %s", phrase.Cut(tag, maxQuoted))
	}
	return nil
}

// numberOf returns a number of YAML as JSON writes it, with all digits.
func numberOf(text string) (string, bool) {
	text = strings.TrimPrefix(strings.ReplaceAll(text, "_", ""), "+")
	if isNumber(text) {
		return text, true
	}
	if n, ok := new(big.Int).SetString(text, 0); ok { // 0x1f, 0o17, 0b1 and 017
		return n.String(), true
	}
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	whole, rest, _ := strings.Cut(text, ".")
	if whole == "" {
		whole = "0"
	}
	if rest == "" || rest[0] == 'e' || rest[0] == 'E' {
		rest = "0" + rest
	}
	text = sign + whole + "." + rest
	return text, isNumber(text)
}

func isNumber(text string) bool {
	p := &parser{text: text}
	_, err := p.number()
	return err == nil && p.at == len(text)
}
