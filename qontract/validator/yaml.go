package validator

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/qontract/bundle"
	"go.yaml.in/yaml/v3"
)

// Limits on one YAML text.
const (
	maxYAMLValues = 1_000_000
	maxYAMLDepth  = 300
)

var errYAMLSize = errors.New("more values than can be checked")

// fromYAML parses a text with one YAML document, with the same result as PyYAML.
func fromYAML(text string) (v any, err error) {
	defer func() {
		if p := recover(); p != nil { // the parser panics on some hostile texts
			v, err = nil, errors.New("not YAML")
		}
	}()
	doc, err := oneDocument([]byte(text))
	if err != nil {
		doc, err = oneDocument(withoutSlashEscapes([]byte(text), "/"))
	}
	if err != nil || len(doc.Content) != 1 {
		return nil, err
	}
	r := yamlConverter{budget: maxYAMLValues}
	return r.convert(doc.Content[0], 0)
}

func oneDocument(text []byte) (*yaml.Node, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var doc, second yaml.Node
	if err := d.Decode(&doc); err != nil {
		return nil, err
	}
	if err := d.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one document")
	}
	return &doc, nil
}

// A yamlConverter converts YAML nodes to values of package bundle.
type yamlConverter struct{ budget int }

func (c *yamlConverter) convert(n *yaml.Node, depth int) (any, error) {
	if c.budget--; c.budget < 0 || depth > maxYAMLDepth {
		return nil, errYAMLSize
	}
	switch n.Kind {
	case yaml.AliasNode:
		return c.convert(n.Alias, depth+1)
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			v, err := c.convert(item, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	case yaml.MappingNode:
		o := &bundle.Object{}
		return o, c.convertMembers(o, n, depth)
	}
	return convertScalar(n), nil
}

// convertMembers adds the members of a mapping to an object. Members that are merged in are
// added first, so that the keys of the mapping itself override them.
func (c *yamlConverter) convertMembers(o *bundle.Object, n *yaml.Node, depth int) error {
	var own []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Tag != "!!merge" {
			own = append(own, n.Content[i], n.Content[i+1])
			continue
		}
		v, err := c.convert(n.Content[i+1], depth+1)
		if err != nil {
			return err
		}
		list, ok := v.([]any)
		if !ok {
			list = []any{v}
		}
		for j := len(list) - 1; j >= 0; j-- {
			merged, _ := list[j].(*bundle.Object)
			for _, m := range members(merged) {
				o.Set(m.Key, m.Value)
			}
		}
	}
	for i := 0; i < len(own); i += 2 {
		v, err := c.convert(own[i+1], depth+1)
		if err != nil {
			return err
		}
		o.Set(keyText(own[i]), v)
	}
	return nil
}

// members returns the members of an object, which may be nil.
func members(o *bundle.Object) []bundle.Member {
	if o == nil {
		return nil
	}
	return o.Members()
}

// keyText returns the text that a YAML key has in JSON.
func keyText(n *yaml.Node) string {
	switch v := convertScalar(n).(type) {
	case bool:
		return strconv.FormatBool(v)
	case nil:
		return "null"
	case bundle.Number:
		return string(v)
	case string:
		return v
	}
	return n.Value
}

var (
	yamlBool    = lazyregexp.New(`^(?i:yes|no|true|false|on|off)$`)
	sexagesimal = lazyregexp.New(`^[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+$`)
)

// convertScalar converts a scalar by the rules of YAML 1.1, which PyYAML implements, where
// YAML 1.2 differs.
func convertScalar(n *yaml.Node) any {
	isPlain := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|
		yaml.TaggedStyle) == 0
	if n.Kind != yaml.ScalarNode || !isPlain && n.ShortTag() == "!!str" {
		return n.Value
	}
	switch {
	case isPlain && yamlBool.MatchString(n.Value):
		first := strings.ToLower(n.Value)
		return first == "yes" || first == "true" || first == "on"
	case isPlain && sexagesimal.MatchString(n.Value):
		return bundle.Number("60")
	}
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return n.Value == "true"
	case "!!int":
		return convertInteger(n)
	case "!!float":
		return convertFloat(n)
	}
	return n.Value
}

func convertInteger(n *yaml.Node) any {
	var i int64
	var u uint64
	switch {
	case strings.HasPrefix(strings.TrimLeft(n.Value, "+-"), "0o"):
		return n.Value
	case n.Decode(&i) == nil:
		return bundle.Number(strconv.FormatInt(i, 10))
	case n.Decode(&u) == nil:
		return bundle.Number(strconv.FormatUint(u, 10))
	}
	return bundle.Number(strings.TrimLeft(strings.ReplaceAll(n.Value, "_", ""), "+"))
}

func convertFloat(n *yaml.Node) any {
	if !strings.Contains(n.Value, ".") {
		return n.Value
	}
	var f float64
	if n.Decode(&f) != nil || f != f || f-f != 0 {
		return bundle.Number("1.5e308") // NaN or infinity
	}
	return bundle.Number(strconv.FormatFloat(f, 'g', -1, 64))
}
