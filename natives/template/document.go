package template

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The limits of a document. Aliases may repeat a part of it.
const (
	maxDocument = 8 << 20 // bytes
	maxValues   = 200_000
)

// A Document is one document of YAML or JSON. Its values know their lines.
type Document struct {
	Name string // for messages
	root *yaml.Node
}

// ReadDocument reads a document. It does not follow aliases yet, see [Document.Value].
func ReadDocument(name string, raw []byte) (doc *Document, err error) {
	if len(raw) > maxDocument {
		return nil, fmt.Errorf("%s: it is larger than %d MiB", name, maxDocument>>20)
	}
	defer func() { // the library panics on some bytes that are no YAML
		if caught := recover(); caught != nil {
			doc, err = nil, fmt.Errorf("%s: it is no YAML", name)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	var root yaml.Node
	switch err := dec.Decode(&root); {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s: it is empty", name)
	case err != nil:
		return nil, fmt.Errorf("%s: %s", name, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	var next yaml.Node
	if err := dec.Decode(&next); err == nil {
		return nil, fmt.Errorf("%s: line %d: a second document begins here; only one is read", name, next.Line)
	} else if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %s", name, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	return &Document{Name: name, root: root.Content[0]}, nil
}

// Errorf returns an error that names the line of the value at a path of keys and positions, or
// of the last value on the way to it.
func (d *Document) Errorf(path []any, format string, args ...any) error {
	return d.lineErrorf(d.Line(path...), format, args...)
}

func (d *Document) lineErrorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s: line %d: "+format, append([]any{d.Name, line}, args...)...)
}

// Line returns the line of the value at a path of keys (string) and positions (int), or of the
// last value on the way to it.
func (d *Document) Line(path ...any) int {
	at, line := d.root, d.root.Line
	for _, step := range path {
		if at = entry(follow(at), step); at == nil {
			break
		}
		line = at.Line
	}
	return line
}

// find returns the node at a path, nil if there is none.
func (d *Document) find(path ...any) *yaml.Node {
	at := follow(d.root)
	for _, step := range path {
		if at = entry(at, step); at == nil {
			return nil
		}
		at = follow(at)
	}
	return at
}

// entry returns the value of a key or at a position, nil if there is none.
func entry(of *yaml.Node, step any) *yaml.Node {
	switch step := step.(type) {
	case int:
		if of.Kind == yaml.SequenceNode && step >= 0 && step < len(of.Content) {
			return of.Content[step]
		}
	case string:
		for i := 0; of.Kind == yaml.MappingNode && i+1 < len(of.Content); i += 2 {
			if of.Content[i].Value == step {
				return of.Content[i+1]
			}
		}
	}
	return nil
}

// follow returns the node that an alias stands for, or the node itself.
func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias // the library makes no alias of an alias
	}
	return n
}

// A Mention is a reference to a parameter in a document.
type Mention struct {
	Name string
	Line int
}

// Mentions returns the references in the texts and keys of a document, in their order. Lines of
// a text that goes over several lines are those of its lines.
func (d *Document) Mentions() []Mention {
	var out []Mention
	nodes := []*yaml.Node{d.root}
	for len(nodes) > 0 {
		n := nodes[len(nodes)-1]
		nodes = nodes[:len(nodes)-1]
		for i := len(n.Content) - 1; i >= 0; i-- {
			nodes = append(nodes, n.Content[i])
		}
		if n.Kind != yaml.ScalarNode {
			continue
		}
		lines := strings.Split(n.Value, "\n")
		for i, line := range lines {
			if _, isWhole := wholeName(line); isWhole && len(lines) > 1 {
				continue // it is a reference only if it is the whole text
			}
			for _, name := range Names(line) {
				out = append(out, Mention{name, n.Line + lineWithin(n, i)})
			}
		}
	}
	return out
}

// lineWithin returns how many lines below its node the line i of a text stands.
func lineWithin(n *yaml.Node, i int) int {
	if n.Style&yaml.LiteralStyle != 0 {
		return i + 1
	}
	return 0
}

// ReadDocuments reads a file with any number of documents, at most the given one. Empty
// documents are left out.
func ReadDocuments(name string, raw []byte, most int) (docs []*Document, err error) {
	if len(raw) > maxDocument {
		return nil, fmt.Errorf("%s: it is larger than %d MiB", name, maxDocument>>20)
	}
	defer func() { // the library panics on some bytes that are no YAML
		if caught := recover(); caught != nil {
			docs, err = nil, fmt.Errorf("%s: it is no YAML", name)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	for {
		var root yaml.Node
		switch err := dec.Decode(&root); {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %s", name, strings.TrimPrefix(err.Error(), "yaml: "))
		case len(docs) >= most:
			return nil, fmt.Errorf("%s: it has more than %d documents", name, most)
		}
		if of := root.Content[0]; of.Kind != yaml.ScalarNode || of.ShortTag() != "!!null" {
			docs = append(docs, &Document{Name: name, root: of})
		}
	}
}
