package validator

import (
	"errors"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// A Text is a YAML or JSON file in which the place of a JSON pointer can be found.
type Text struct {
	root  *yaml.Node
	lines int
}

// ParseText parses a file with one YAML document. It returns an error if the file is not
// valid YAML or is empty.
func ParseText(text []byte) (t *Text, err error) {
	defer func() {
		if p := recover(); p != nil { // the parser panics on some hostile texts
			t, err = nil, errors.New("not YAML")
		}
	}()
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		doc = yaml.Node{}
		if yaml.Unmarshal(withoutSlashEscapes(text, "//"), &doc) != nil {
			return nil, err
		}
	}
	if len(doc.Content) == 0 {
		return nil, errors.New("an empty document")
	}
	lines := 1
	for _, r := range string(text) {
		if strings.ContainsRune("\n\r\u0085\u2028\u2029", r) { // the line breaks of YAML
			lines++
		}
	}
	return &Text{doc.Content[0], lines}, nil
}

// withoutSlashEscapes replaces the escape \/, which JSON and PyYAML accept and this YAML
// parser does not. A replacement of two bytes keeps all places in the text.
func withoutSlashEscapes(text []byte, by string) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] != '\\' || i+1 == len(text):
			out = append(out, text[i])
		case text[i+1] == '/':
			out = append(out, by...)
			i++
		default:
			out = append(out, text[i], text[i+1])
			i++
		}
	}
	return out
}

// At returns the line and the column, from 1, of the place to which a JSON pointer leads.
// For a value of a mapping this is the place of its key, for an item of a list the place of
// the item. If the pointer leads nowhere, it is the place of the last existing value on the
// way. So a missing key has the place of its parent.
func (t *Text) At(pointer string) (line, column int) {
	at, node := t.root, t.root
	for _, part := range jsonpointer.Split(pointer) {
		mark, next := child(node, part)
		if next == nil {
			break
		}
		at, node = mark, next
	}
	if at.Line > t.lines { // the parser puts an empty document behind "---"
		return t.lines, 1
	}
	return at.Line, at.Column
}

// maxAliases limits how many aliases or merges are followed for one part of a pointer.
const maxAliases = 32

// followAlias returns the node that an alias stands for, or n itself.
func followAlias(n *yaml.Node) *yaml.Node {
	for range maxAliases {
		if n.Kind != yaml.AliasNode || n.Alias == nil {
			break
		}
		n = n.Alias
	}
	return n
}

// child returns the value to which one part of a pointer leads, and the node that marks its
// place: the key in a mapping, or the item of a list.
func child(n *yaml.Node, part string) (mark, value *yaml.Node) {
	switch n = followAlias(n); n.Kind {
	case yaml.SequenceNode:
		i, err := strconv.Atoi(part)
		if err != nil || i < 0 || i >= len(n.Content) {
			return nil, nil
		}
		return n.Content[i], n.Content[i]
	case yaml.MappingNode:
		budget := maxAliases
		return findKey(n, part, &budget)
	}
	return nil, nil
}

// findKey finds a key of a mapping. If the key is repeated, the last one counts. Keys that
// are merged in come after the keys of the mapping itself.
func findKey(n *yaml.Node, key string, budget *int) (mark, value *yaml.Node) {
	if *budget--; *budget < 0 || n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := len(n.Content) - 2; i >= 0; i -= 2 {
		if k := n.Content[i]; k.Tag != "!!merge" && keyText(followAlias(k)) == key {
			return k, n.Content[i+1]
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Tag != "!!merge" {
			continue
		}
		from := []*yaml.Node{followAlias(n.Content[i+1])}
		if from[0].Kind == yaml.SequenceNode {
			from = from[0].Content
		}
		for _, m := range from {
			if mark, value := findKey(followAlias(m), key, budget); value != nil {
				return mark, value
			}
		}
	}
	return nil, nil
}

// Locate fills in the lines and columns of the findings. The function read returns the text
// of a file. If it returns an error, the findings in this file stay without a line. The
// text of resources is taken from the bundle.
func (r *Report) Locate(head *bundle.Bundle, read func(Section, bundle.Path) ([]byte, error)) {
	type file struct {
		section Section
		path    bundle.Path
	}
	texts := map[file]*Text{}
	for i := range r.Findings {
		f := &r.Findings[i]
		at := file{f.Section, f.Path}
		text, known := texts[at]
		if !known {
			if raw, err := readText(head, at.section, at.path, read); err == nil {
				text, _ = ParseText(raw)
			}
			texts[at] = text
		}
		if text != nil {
			f.Line, f.Column = text.At(f.Pointer)
		}
	}
}

// readText returns the text of a file.
func readText(head *bundle.Bundle, s Section, p bundle.Path, read func(Section,
	bundle.Path) ([]byte, error)) ([]byte, error) {
	if s == Resources {
		if f, ok := head.Resource(p); ok {
			return []byte(f.Decode().String("content")), nil
		}
	}
	if read == nil {
		return nil, errors.New("no texts")
	}
	return read(s, p)
}
