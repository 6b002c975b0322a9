package importer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/natives/generic/body"
)

// An Entry is a datafile about a resource.
type Entry struct {
	API        string // the path of the datafile of the API
	Type       string // as [resources.Type.ID] has it
	ResourceID string
	Body       any
	Secrets    []string // places whose values a store of secrets is to hold
	Whole      []string // places of values that were left out, since a part of them is a secret
	Refused    []Refusal
}

// Text returns the datafile as YAML.
func (e Entry) Text() ([]byte, error) {
	doc := mapping(
		"$schema", text("/cloud/resource-1.yml"),
		"api", mapping("$ref", text(e.API)),
		"type", text(e.Type),
		"resourceId", text(e.ResourceID))
	if v, isObject := e.Body.(map[string]any); !isObject || len(v) > 0 {
		name, content := "body", node(e.Body)
		if !isPlain(e.Body) {
			name, content = "bodyText", text(body.Text(e.Body))
		}
		doc.Content = append(doc.Content, text(name), content)
	}
	var out bytes.Buffer
	out.WriteString("---\n")
	w := yaml.NewEncoder(&out)
	w.SetIndent(2)
	if err := w.Encode(doc); err != nil {
		return nil, fmt.Errorf("writing the datafile: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("writing the datafile: %w", err)
	}
	if len(e.Secrets) > 0 {
		out.WriteString("# These values are secrets and were left out. To manage one of them, say where it is kept:\n# " +
			"secrets:\n")
		for _, at := range e.Secrets {
			fmt.Fprintf(&out, "# - at: %s\n#   secret: {path: , field: , version: }\n", line(at))
		}
	}
	if len(e.Whole) > 0 {
		out.WriteString("# Each of these is one value with a secret in it. They were left out, and stay as they are:\n")
		for _, at := range e.Whole {
			fmt.Fprintf(&out, "# - %s\n", line(at))
		}
	}
	if len(e.Refused) > 0 {
		out.WriteString("# The specification does not allow what the service answers here. It was left out, and stays as " +
			"it is:\n")
		for _, r := range e.Refused {
			fmt.Fprintf(&out, "# - %s # %s\n", line(r.At), r.Code)
		}
	}
	return out.Bytes(), nil
}

// line returns a text for a comment: JSON, which has no line breaks.
func line(v string) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return `"?"` // a text can always be written
	}
	return string(raw)
}

// node returns a value as YAML, with the members of objects sorted.
func node(v any) *yaml.Node {
	switch v := v.(type) {
	case nil:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v)}
	case json.Number:
		tag := "!!int"
		if strings.ContainsAny(v.String(), ".eE") {
			tag = "!!float"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: v.String()}
	case string:
		return text(v)
	case map[string]any:
		out := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out.Content = append(out.Content, text(name), node(v[name]))
		}
		return out
	case []any:
		out := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, item := range v {
			out.Content = append(out.Content, node(item))
		}
		return out
	}
	return text(fmt.Sprint(v))
}

// words are texts that older readers of YAML take for truth values.
var words = []string{"y", "n", "yes", "no", "on", "off"}

// text returns a text, in quotes where it could be taken for something else.
func text(v string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: v}
	if slices.Contains(words, strings.ToLower(v)) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// mapping returns an object of pairs of a name and a node.
func mapping(pairs ...any) *yaml.Node {
	out := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i := 0; i+1 < len(pairs); i += 2 {
		out.Content = append(out.Content, text(pairs[i].(string)), pairs[i+1].(*yaml.Node))
	}
	return out
}

// largest is the largest whole number that a float64 has with all smaller ones.
const largest = 1<<53 - 1

// isPlain reports whether every reader of YAML reads all numbers and texts of a value as they
// are.
func isPlain(v any) bool {
	switch v := v.(type) {
	case json.Number:
		f, err := strconv.ParseFloat(v.String(), 64)
		if err != nil || f > largest || f < -largest {
			return false
		}
		return len(v) < 30 && body.Equal(v, json.Number(strconv.FormatFloat(f, 'f', -1, 64)), body.Plain)
	case string:
		return !strings.ContainsFunc(v, func(r rune) bool {
			return r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 || r == 0xfeff
		})
	case map[string]any:
		for name, item := range v {
			if !isPlain(name) || !isPlain(item) {
				return false
			}
		}
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !isPlain(item) })
	}
	return true
}

// maxPart is the length in bytes of a part of a file name.
const maxPart = 60

// File returns the path of the datafile below a folder: the last part of the type, the
// resource's name, and a part of a digest where a name alone could be that of another file.
func (e Entry) File() string {
	name, _, _ := strings.Cut(e.Type, "@")
	digest := sha256.Sum256([]byte(strings.ToLower(e.API + " " + e.ResourceID)))
	file := safe(e.ResourceID[strings.LastIndexByte(e.ResourceID, '/')+1:])
	folder := safe(name[strings.LastIndexByte(name, '/')+1:])
	return path.Join(folder, file+"-"+hex.EncodeToString(digest[:4])+".yml")
}

// safe returns a text with nothing but lower-case letters, digits and dashes.
func safe(v string) string {
	out := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, v)
	if out = strings.Trim(out[:min(len(out), maxPart)], "-"); out == "" {
		out = "resource"
	}
	return out
}
