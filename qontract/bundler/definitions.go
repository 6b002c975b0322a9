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

// The definitions are the schemas and GraphQL types that datafiles follow. They do
// not change while datafiles are read.
type definitions struct {
	schemas map[string]*node // by path
	graphql *graphql
}

// readDefinitions reads the JSON schemas and the GraphQL types. If the GraphQL types
// have problems, the bundle stays without definitions.
func (m *maker) readDefinitions(ctx context.Context) error {
	files, err := m.in.Schemas.listFiles(ctx, isDatafileName, &m.found)
	if err != nil {
		return err
	}
	defs := &definitions{schemas: make(map[string]*node, len(files))}
	sums := map[string][sha256.Size]byte{}
	_, err = m.makeRecords(ctx, stage{m.in.Schemas.Tree, files, maxDatafile, datafileReading, nil,
		func(f sourceFile, raw, _ []byte) (record, []byte, []Problem) {
			root, found := m.in.Schemas.parseFile(f.path, raw)
			if found == nil && root != nil {
				if found = checkSchema(root); found != nil && found[0].Line == 0 {
					root, _ = readFullYAML(raw) // once more, with lines and columns
					found = checkSchema(root)
				}
			}
			if found == nil && root != nil {
				m.mu.Lock()
				defer m.mu.Unlock()
				defs.schemas[f.path] = root
				sums[f.path] = sha256.Sum256(raw)
			}
			return record{empty: true}, nil, found
		}})
	if err != nil {
		return err
	}
	if err := m.readGraphQL(ctx, defs); err != nil {
		return err
	}
	if defs.graphql == nil {
		return nil
	}
	m.b.definitions = defs
	h := sha256.New()
	hashf(h, "%s %t\n%s\n", cacheFormat, m.in.Schemas.JSON, m.definitionsKey)
	for _, p := range slices.Sorted(maps.Keys(sums)) {
		hashf(h, "%q %x\n", p, sums[p])
	}
	m.definitionsKey = hex.EncodeToString(h.Sum(nil))
	return nil
}

// checkSchema checks the parts of a schema that the bundler itself needs. It
// changes schemas of datafiles so that they allow a checksum.
func checkSchema(root *node) []Problem {
	at := Problem{Line: int(root.line), Column: int(root.column)}
	name := root.get("$schema")
	properties := root.get("properties")
	switch {
	case name == nil:
		at.Msg = "a schema must be a mapping with a $schema"
		return []Problem{at}
	case name.stringValue() != "/metaschema-1.json":
		return nil
	case properties == nil || properties.kind != mapping:
		at.Msg = "a schema of datafiles must have properties"
		return []Problem{at}
	}
	properties.set(checksumKey, &node{kind: mapping, members: []member{
		{textNode("type"), textNode("string")}, {textNode("description"), textNode("sha256sum of the datafile")},
	}})
	return nil
}

// textNode returns a string as a node.
func textNode(s string) *node { return &node{kind: text, text: s} }

// readGraphQL reads the GraphQL types into w.
func (m *maker) readGraphQL(ctx context.Context, defs *definitions) error {
	s := m.in.GraphQL
	e, err := s.findFile(ctx)
	if err != nil {
		return err
	}
	_, err = m.makeRecords(ctx, stage{s.Tree, []sourceFile{{"/" + path.Base(e.Name), s.Shown, e}}, maxDatafile,
		datafileReading, nil,
		func(f sourceFile, raw, _ []byte) (record, []byte, []Problem) {
			root, found := s.parseFile(f.path, raw)
			if found != nil {
				return record{empty: true}, nil, found
			}
			g, err := newGraphQL(root)
			if err != nil {
				return record{}, nil, []Problem{{Msg: err.Error()}}
			}
			defs.graphql, m.b.types = g, root
			m.definitionsKey = fmt.Sprintf("%x", sha256.Sum256(raw))
			return record{empty: true}, nil, nil
		}})
	return err
}
