package bundler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A memoryTree is a Tree in memory, with files by their paths. It holds the schemas
// and the GraphQL types of a bundle.
type memoryTree map[string][]byte

// graphqlPath is the path of the GraphQL types in a memoryTree.
const graphqlPath = "graphql.json"

// SchemasFromBundle returns the schemas and the GraphQL types of a bundle. What a
// bundler added to the schemas stays in them. Shown is the name of the bundle in
// messages.
func SchemasFromBundle(raw []byte, shown string) (schemas, graphql TreePart, err error) {
	var b struct {
		Schemas map[string]json.RawMessage
		GraphQL json.RawMessage
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return TreePart{}, TreePart{}, fmt.Errorf("reading bundle %q: %w", shown, err)
	}
	if len(b.Schemas) == 0 || b.GraphQL == nil {
		return TreePart{}, TreePart{}, fmt.Errorf("reading bundle %q: %w", shown,
			errors.New("it has no schemas or no GraphQL types"))
	}
	t := memoryTree{graphqlPath: b.GraphQL}
	for path, raw := range b.Schemas {
		t["schemas/"+strings.TrimPrefix(path, "/")] = raw
	}
	part := func(dir string) TreePart { return TreePart{Tree: t, Dir: dir, Shown: shown, JSON: true} }
	return part("schemas"), part(graphqlPath), nil
}

// maxBundle bounds a bundle that is read, in bytes.
const maxBundle = 2 << 30

// SchemasFromFile returns the schemas and the GraphQL types of a bundle that is a
// file of a tree.
func SchemasFromFile(ctx context.Context, s TreePart) (schemas, graphql TreePart, err error) {
	e, err := s.findFile(ctx)
	if err != nil {
		return TreePart{}, TreePart{}, err
	}
	r, err := s.Tree.Open(ctx)
	if err != nil {
		return TreePart{}, TreePart{}, err
	}
	raw, err := r.Read(e, maxBundle)
	if err = errors.Join(err, r.Close()); err != nil {
		return TreePart{}, TreePart{}, fmt.Errorf("reading %s: %w", s.Shown, err)
	}
	return SchemasFromBundle(raw, s.Shown)
}

// List returns the entries below a folder.
func (t memoryTree) List(_ context.Context, dir string) ([]Entry, error) {
	prefix := strings.TrimPrefix(dir+"/", "./")
	var entries []Entry
	for _, path := range slices.Sorted(maps.Keys(t)) {
		if name, ok := strings.CutPrefix(path, prefix); ok {
			entries = append(entries, Entry{Name: name, Path: path})
		}
	}
	return entries, nil
}

// Open returns the tree itself as a reader.
func (t memoryTree) Open(context.Context) (Reader, error) { return t, nil }

// Expect does nothing, since everything is in memory.
func (t memoryTree) Expect([]Entry) error { return nil }

// Close does nothing.
func (t memoryTree) Close() error { return nil }

// Read returns the bytes of a file.
func (t memoryTree) Read(e Entry, limit int) ([]byte, error) {
	raw := t[e.Path]
	return raw[:min(len(raw), limit+1)], nil
}
