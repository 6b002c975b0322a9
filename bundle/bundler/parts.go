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

// parts is a tree of the schemas and the GraphQL types of a bundle.
type parts map[string][]byte

// graphqlPart is the name of the GraphQL types in such a tree.
const graphqlPart = "graphql.json"

// FromBundle takes schemas and GraphQL types from the bytes of a bundle. What
// a bundler added to the schemas stays in them.
func FromBundle(raw []byte, shown string) (schemas, graphql Section, err error) {
	var b struct {
		Schemas map[string]json.RawMessage
		GraphQL json.RawMessage
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return Section{}, Section{}, fmt.Errorf("reading bundle %q: %w", shown, err)
	}
	if len(b.Schemas) == 0 || b.GraphQL == nil {
		return Section{}, Section{}, fmt.Errorf("reading bundle %q: %w", shown, errors.New("it has no schemas or no GraphQL types"))
	}
	p := parts{graphqlPart: b.GraphQL}
	for path, raw := range b.Schemas {
		p["schemas/"+strings.TrimPrefix(path, "/")] = raw
	}
	return Section{p, "schemas", shown, true}, Section{p, graphqlPart, shown, true}, nil
}

// maxBundle is the size in bytes up to which a bundle is read.
const maxBundle = 2 << 30

// SchemasOf does the same with a bundle that is a file of a tree.
func SchemasOf(ctx context.Context, s Section) (schemas, graphql Section, err error) {
	e, err := s.file(ctx)
	if err != nil {
		return Section{}, Section{}, err
	}
	r, err := s.Tree.Open(ctx)
	if err != nil {
		return Section{}, Section{}, err
	}
	raw, err := r.Read(e, maxBundle)
	if err = errors.Join(err, r.Close()); err != nil {
		return Section{}, Section{}, fmt.Errorf("reading %s: %w", s.Shown, err)
	}
	return FromBundle(raw, s.Shown)
}

// List gives the entries below a folder.
func (p parts) List(_ context.Context, dir string) ([]Entry, error) {
	prefix := strings.TrimPrefix(dir+"/", "./")
	var entries []Entry
	for _, path := range slices.Sorted(maps.Keys(p)) {
		if name, ok := strings.CutPrefix(path, prefix); ok {
			entries = append(entries, Entry{Name: name, Path: path})
		}
	}
	return entries, nil
}

// Open gives the tree itself.
func (p parts) Open(context.Context) (Reader, error) { return p, nil }

// Expect does nothing: all is in memory.
func (p parts) Expect([]Entry) error { return nil }

// Close does nothing.
func (p parts) Close() error { return nil }

// Read gives the bytes of a part.
func (p parts) Read(e Entry, limit int) ([]byte, error) {
	raw := p[e.Path]
	return raw[:min(len(raw), limit+1)], nil
}
