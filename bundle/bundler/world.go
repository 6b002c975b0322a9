package bundler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
)

// readWorld reads schemas and GraphQL types.
func (m *maker) readWorld(ctx context.Context) error {
	files, err := m.in.Schemas.files(ctx, isDatafile, &m.found)
	if err != nil {
		return err
	}
	w := &world{schemas: make(map[string]*node, len(files))}
	sums := map[string][sha256.Size]byte{}
	_, err = m.each(ctx, stage{m.in.Schemas.Tree, files, maxDatafile, datafileKind, nil, func(f file, raw, _ []byte) (record, []byte, []Problem) {
		root, found := m.in.Schemas.parse(f.path, raw)
		if found == nil && root != nil {
			if found = checkSchema(root); found != nil && found[0].Line == 0 {
				root, _ = readFull(raw) // it was read without places
				found = checkSchema(root)
			}
		}
		if found == nil && root != nil {
			m.mu.Lock()
			defer m.mu.Unlock()
			w.schemas[f.path] = root
			sums[f.path] = sha256.Sum256(raw)
		}
		return record{empty: true}, nil, found
	}})
	if err != nil {
		return err
	}
	if err := m.readGraphQL(ctx, w); err != nil {
		return err
	}
	if w.graphql == nil {
		return nil
	}
	m.b.world = w
	h := sha256.New()
	note(h, "%s %t\n%s\n", cacheFormat, m.in.Schemas.JSON, m.key)
	for _, p := range slices.Sorted(maps.Keys(sums)) {
		note(h, "%q %x\n", p, sums[p])
	}
	m.key = hex.EncodeToString(h.Sum(nil))
	return nil
}

// checkSchema looks at what the bundler itself needs of a schema, and lets
// schemas of datafiles have a checksum.
func checkSchema(root *node) []Problem {
	at := Problem{Line: int(root.line), Column: int(root.column)}
	name := root.get("$schema")
	properties := root.get("properties")
	switch {
	case name == nil:
		at.Msg = "a schema is a mapping with a $schema"
		return []Problem{at}
	case name.str() != "/metaschema-1.json":
		return nil
	case properties == nil || properties.kind != mapping:
		at.Msg = "a schema of datafiles has properties"
		return []Problem{at}
	}
	properties.set(checksumKey, &node{kind: mapping, members: []member{
		{textNode("type"), textNode("string")}, {textNode("description"), textNode("sha256sum of the datafile")},
	}})
	return nil
}

func textNode(s string) *node { return &node{kind: text, text: s} }

func (m *maker) readGraphQL(ctx context.Context, w *world) error {
	s := m.in.GraphQL
	e, err := s.file(ctx)
	if err != nil {
		return err
	}
	_, err = m.each(ctx, stage{s.Tree, []file{{"/" + path.Base(e.Name), s.Shown, e}}, maxDatafile, datafileKind, nil,
		func(f file, raw, _ []byte) (record, []byte, []Problem) {
			root, found := s.parse(f.path, raw)
			if found != nil {
				return record{empty: true}, nil, found
			}
			g, err := newGraphQL(root)
			if err != nil {
				return record{}, nil, []Problem{{Msg: err.Error()}}
			}
			w.graphql, m.b.types = g, root
			m.key = fmt.Sprintf("%x", sha256.Sum256(raw))
			return record{empty: true}, nil, nil
		}})
	return err
}
