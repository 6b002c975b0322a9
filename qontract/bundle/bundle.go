package bundle

import (
	"crypto/sha256"
	"slices"
	"sync/atomic"
)

// Path is the path of a datafile, resource or JSON schema inside a bundle. It begins with a
// slash.
type Path string

// SchemaPath is the path of the JSON schema of a datafile, such as "/access/user-1.yml".
type SchemaPath string

// A File is one datafile, resource or JSON schema file of a bundle. If a file has the same
// bytes in two bundles, they can share one File.
type File struct {
	Path   Path
	Schema SchemaPath // $schema; "" if there is none

	raw      []byte        // use text; its capacity reaches to the end of the bundle file
	mentions []mention     // use found
	indexed  *indexedEntry // nil if raw and mentions are known
	object   atomic.Pointer[Object]
	hashed   atomic.Pointer[[sha256.Size]byte] // use sum
}

// Raw returns the JSON text of the file as it stands in the bundle. The caller must not
// change it.
func (f *File) Raw() []byte { return slices.Clip(f.text()) }

// Object returns the decoded file. Like qontract-server it sets the key "path" to the path
// of the file. The file is decoded once. The caller must not change the object.
func (f *File) Object() *Object {
	if o := f.object.Load(); o != nil {
		return o
	}
	o, _ := decode(f.text()).(*Object)
	o.Set("path", string(f.Path))
	f.object.Store(o)
	return o
}

// Decode decodes the file anew, without the key "path" that [File.Object] sets. The result
// is not kept, so reading all files of a bundle this way needs little memory.
func (f *File) Decode() *Object {
	o, _ := decode(f.text()).(*Object)
	return o
}

// A section is one of the maps of a bundle from path to file.
type section struct {
	files   []*File // in the order of the bundle
	indexOf map[Path]int
}

// buildIndex indexes the files by path. It returns a path that occurs twice, if there is
// one. If reuse has the same paths in the same order, both sections share one index.
func (s *section) buildIndex(reuse *section) (repeated Path, found bool) {
	samePath := func(a, b *File) bool { return a.Path == b.Path }
	if len(reuse.files) > 0 && slices.EqualFunc(s.files, reuse.files, samePath) {
		s.indexOf = reuse.indexOf
		return "", false
	}
	s.indexOf = make(map[Path]int, len(s.files))
	for i, f := range s.files {
		s.indexOf[f.Path] = i
		if len(s.indexOf) <= i && !found {
			repeated, found = f.Path, true
		}
	}
	return repeated, found
}

func (s *section) get(p Path) (*File, bool) {
	if i, ok := s.indexOf[p]; ok {
		return s.files[i], true
	}
	return nil, false
}

// A Bundle is one snapshot of the repository. Several goroutines may use it at the same
// time.
type Bundle struct {
	sha256    func() string // nil: ""
	commit    string
	timestamp string

	datafiles section
	resources section
	schemas   section
	bySchema  map[SchemaPath][]*File

	graphql             []byte
	types               atomic.Pointer[Object]      // {"graphql": …}; nil until it is decoded
	hasPathWithoutSlash bool                        // some path does not begin with a slash
	mentions            atomic.Pointer[mentionPart] // nil until it is asked for
	indexed             *indexedFile                // nil for a bundle that was read as a whole
}

// SHA256 returns the sha256 of the bundle file as 64 hex digits. It is computed when it is asked
// for the first time, unless it is known.
func (b *Bundle) SHA256() string {
	if b.sha256 == nil {
		return ""
	}
	return b.sha256()
}

// known returns what [Bundle.SHA256] asks, for a sum that is known.
func known(sum string) func() string { return func() string { return sum } }

// Commit returns git_commit, or "" if the bundle has none.
func (b *Bundle) Commit() string { return b.commit }

// Timestamp returns git_commit_timestamp, or "" if the bundle has none. It is a number of
// Unix seconds.
func (b *Bundle) Timestamp() string { return b.timestamp }

// Datafiles returns all datafiles in the order of the bundle. The caller must
// not change the list.
func (b *Bundle) Datafiles() []*File { return b.datafiles.files }

// Datafile returns the datafile with this path.
func (b *Bundle) Datafile(p Path) (*File, bool) { return b.datafiles.get(p) }

// HasDatafile reports whether the File is a datafile of the bundle. A different File with
// the same path does not count.
func (b *Bundle) HasDatafile(f *File) bool {
	i, ok := b.datafiles.indexOf[f.Path]
	return ok && b.datafiles.files[i] == f
}

// DatafileIndex returns the index of a datafile in the order of the bundle, or -1 if there
// is none with this path.
func (b *Bundle) DatafileIndex(p Path) int {
	if i, ok := b.datafiles.indexOf[p]; ok {
		return i
	}
	return -1
}

// BySchema returns the datafiles with a schema, in the order of the bundle. The caller must
// not change the list.
func (b *Bundle) BySchema(s SchemaPath) []*File { return b.bySchema[s] }

// Resources returns all resources in the order of the bundle. The caller must
// not change the list.
func (b *Bundle) Resources() []*File { return b.resources.files }

// Resource returns the resource with this path.
func (b *Bundle) Resource(p Path) (*File, bool) { return b.resources.get(p) }

// JSONSchemas returns all JSON schema files in the order of the bundle. The
// caller must not change the list.
func (b *Bundle) JSONSchemas() []*File { return b.schemas.files }

// JSONSchema returns the JSON schema file with this path.
func (b *Bundle) JSONSchema(p Path) (*File, bool) { return b.schemas.get(p) }

// GraphQL returns the GraphQL types as they stand in the bundle: an object with "confs" or,
// in the old form, a list. It returns nil if the bundle has none.
func (b *Bundle) GraphQL() any {
	if b.graphql == nil {
		return nil
	}
	o := b.types.Load()
	if o == nil {
		o = NewObject(Member{"graphql", decode(b.graphql)})
		b.types.Store(o)
	}
	v, _ := o.Get("graphql")
	return v
}

// HasSameGraphQL reports whether the GraphQL types of two bundles have the same bytes.
func (b *Bundle) HasSameGraphQL(other *Bundle) bool {
	return string(b.graphql) == string(other.graphql)
}
