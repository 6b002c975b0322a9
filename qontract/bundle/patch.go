package bundle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// A Patch says how a bundle is changed. Each map has the new JSON text of files by their
// path; nil takes the file out. The zero value changes nothing.
type Patch struct {
	Datafiles, Resources, Schemas map[Path][]byte
	Types                         *Bundle // whose GraphQL types to take; nil keeps them
}

// Patched returns the bundle with some of its parts changed, and shares all others with it.
// An added file gets the place before the first file with a greater path. The new bundle has
// a sha256 of its own, which is not that of any bundle file.
func (b *Bundle) Patched(p Patch) (*Bundle, error) {
	raw := p.text()
	written, err := Parse(raw, nil)
	if err != nil {
		return nil, fmt.Errorf("patching a bundle: %w", err)
	}
	out := &Bundle{
		sha256: hashed(append([]byte("patched: "+b.SHA256()), raw...)),
		commit: b.commit, timestamp: b.timestamp, indexed: b.indexed,
		datafiles:           b.datafiles.patched(p.Datafiles, written.datafiles),
		resources:           b.resources.patched(p.Resources, written.resources),
		schemas:             b.schemas.patched(p.Schemas, written.schemas),
		hasPathWithoutSlash: b.hasPathWithoutSlash || written.hasPathWithoutSlash,
	}
	types := b
	if p.Types != nil {
		types = p.Types
	}
	out.graphql = types.graphql
	out.types.Store(types.types.Load())
	out.groupBySchema()
	return out, nil
}

// text returns the new files as a bundle.
func (p Patch) text() []byte {
	out := []byte{'{'}
	for i, part := range []struct {
		name  string
		files map[Path][]byte
	}{{"data", p.Datafiles}, {"resources", p.Resources}, {"schemas", p.Schemas}} {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(AppendJSON(out, part.name), ":{"...)
		first := true
		for _, path := range slices.Sorted(maps.Keys(part.files)) {
			if part.files[path] == nil {
				continue
			}
			if !first {
				out = append(out, ',')
			}
			first = false
			out = append(append(AppendJSON(out, string(path)), ':'), part.files[path]...)
		}
		out = append(out, '}')
	}
	return append(out, '}')
}

// patched returns the section with other files for the paths of a patch.
func (s *section) patched(patch map[Path][]byte, written section) section {
	if len(patch) == 0 {
		return *s
	}
	var out section
	for _, f := range s.files {
		if _, changed := patch[f.Path]; !changed {
			out.files = append(out.files, f)
		} else if other, ok := written.get(f.Path); ok {
			out.files = append(out.files, other)
		}
	}
	for _, f := range written.files {
		if _, known := s.get(f.Path); known {
			continue
		}
		at := slices.IndexFunc(out.files, func(other *File) bool { return cmp.Less(f.Path, other.Path) })
		if at < 0 {
			at = len(out.files)
		}
		out.files = slices.Insert(out.files, at, f)
	}
	out.buildIndex(s)
	return out
}

// AppendJSON appends the JSON text of a value to out. Keys keep their order, and numbers are
// as they are written.
func AppendJSON(out []byte, v any) []byte {
	switch v := v.(type) {
	case *Object:
		out = append(out, '{')
		for i, m := range v.members {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(AppendJSON(out, m.Key), ':')
			out = AppendJSON(out, m.Value)
		}
		return append(out, '}')
	case []any:
		out = append(out, '[')
		for i := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = AppendJSON(out, v[i])
		}
		return append(out, ']')
	case Number:
		return append(out, v...)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		panic("bundle: not a JSON value") // a programming error, never input
	}
	return append(out, raw...)
}
