package template

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

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
