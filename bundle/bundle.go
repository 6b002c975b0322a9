package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"

	"github.com/app-sre/prcheck/internal/hugepages"
)

// Path names a datafile, resource or JSON schema inside a bundle; it begins
// with a slash.
type Path string

// Schema names the JSON schema of a datafile, such as "/access/user-1.yml".
type Schema string

// A File is one datafile, resource or JSON schema file of a bundle. Two
// bundles share the files that have the same bytes in both.
type File struct {
	Path   Path
	Schema Schema // its $schema; "" when it has none

	raw      []byte
	mentions []mention
	object   atomic.Pointer[Object]
}

// Raw returns the JSON text of the file as the bundle has it. The caller must
// not change it.
func (f *File) Raw() []byte { return f.raw }

// Object returns the decoded file, with "path" set to its path as
// qontract-server does. It is decoded once; the caller must not change it.
func (f *File) Object() *Object {
	if o := f.object.Load(); o != nil {
		return o
	}
	o, _ := decode(f.raw).(*Object)
	o.Set("path", string(f.Path))
	f.object.Store(o)
	return o
}

// Decode decodes the file anew and returns it as the bundle has it, without the
// "path" that [File.Object] sets. Nothing is kept, so looking through a whole
// bundle costs no memory.
func (f *File) Decode() *Object {
	o, _ := decode(f.raw).(*Object)
	return o
}

// A section is one of the maps of a bundle from path to file.
type section struct {
	files []*File // in the order of the bundle
	at    map[Path]int
}

// index makes the files findable by path, and returns a path that occurs twice,
// if any. Sections with the same paths in the same order share an index.
func (s *section) index(like *section) (twice Path, found bool) {
	samePath := func(a, b *File) bool { return a.Path == b.Path }
	if len(like.files) > 0 && slices.EqualFunc(s.files, like.files, samePath) {
		s.at = like.at
		return "", false
	}
	s.at = make(map[Path]int, len(s.files))
	for i, f := range s.files {
		s.at[f.Path] = i
		if len(s.at) <= i && !found {
			twice, found = f.Path, true
		}
	}
	return twice, found
}

func (s *section) get(p Path) (*File, bool) {
	if i, ok := s.at[p]; ok {
		return s.files[i], true
	}
	return nil, false
}

// A Bundle is one snapshot of the repository. It is safe for use by several
// goroutines.
type Bundle struct {
	sha256    string
	commit    string
	timestamp string

	datafiles section
	resources section
	schemas   section
	bySchema  map[Schema][]*File

	graphql []byte
	types   atomic.Pointer[Object] // {"graphql": …} once decoded
	odd     bool                   // some path does not begin with a slash
}

// SHA256 returns the sha256 of the bundle file's bytes as 64 hex digits.
func (b *Bundle) SHA256() string { return b.sha256 }

// Commit returns git_commit, "" when the bundle has none.
func (b *Bundle) Commit() string { return b.commit }

// Timestamp returns git_commit_timestamp: unix seconds as a string, "" when
// the bundle has none.
func (b *Bundle) Timestamp() string { return b.timestamp }

// Datafiles returns all datafiles in the order of the bundle. The caller must
// not change the list.
func (b *Bundle) Datafiles() []*File { return b.datafiles.files }

// Datafile returns the datafile with a path.
func (b *Bundle) Datafile(p Path) (*File, bool) { return b.datafiles.get(p) }

// Holds tells whether a file is one of the bundle's datafiles, the very same.
func (b *Bundle) Holds(f *File) bool {
	i, ok := b.datafiles.at[f.Path]
	return ok && b.datafiles.files[i] == f
}

// Order returns the place of a datafile in the order of the bundle, -1 when
// there is none with the path.
func (b *Bundle) Order(p Path) int {
	if i, ok := b.datafiles.at[p]; ok {
		return i
	}
	return -1
}

// BySchema returns the datafiles of a schema in the order of the bundle. The
// caller must not change the list.
func (b *Bundle) BySchema(s Schema) []*File { return b.bySchema[s] }

// Resources returns all resources in the order of the bundle. The caller must
// not change the list.
func (b *Bundle) Resources() []*File { return b.resources.files }

// Resource returns the resource with a path.
func (b *Bundle) Resource(p Path) (*File, bool) { return b.resources.get(p) }

// JSONSchemas returns all JSON schema files in the order of the bundle. The
// caller must not change the list.
func (b *Bundle) JSONSchemas() []*File { return b.schemas.files }

// JSONSchema returns the JSON schema file with a path.
func (b *Bundle) JSONSchema(p Path) (*File, bool) { return b.schemas.get(p) }

// GraphQL returns the GraphQL types as the bundle has them: an object with
// "confs", or in the old form a bare list; nil when the bundle has none.
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

// SameGraphQL tells whether two bundles have the same bytes as GraphQL types.
func (b *Bundle) SameGraphQL(other *Bundle) bool { return string(b.graphql) == string(other.graphql) }

// Open reads and indexes a bundle file. When like is not nil, files with the
// same bytes are shared with it. Errors name the file and the byte.
func Open(name string, like *Bundle) (*Bundle, error) {
	raw, err := ReadFile(name)
	if err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, fmt.Errorf("reading bundle %q: %w", name, err)
	}
	b, err := Parse(raw, like)
	if err != nil {
		return nil, fmt.Errorf("reading bundle %q: %w", name, err)
	}
	return b, nil
}

// ReadFile reads a whole file into memory that is good for large files.
func ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // a pipe, whose size is not known, or a directory
		return io.ReadAll(f)
	}
	raw := make([]byte, info.Size())
	hugepages.Advise(raw)
	n, err := io.ReadFull(f, raw)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil // it became shorter, which parsing finds
	}
	return raw[:n], err
}

// Parse indexes the bytes of a bundle file and keeps them; they must not
// change any more. See [Open] for like.
func Parse(raw []byte, like *Bundle) (*Bundle, error) {
	return parse(raw, digest(raw), like, needSchema)
}

// ParseUnchecked is [Parse] but takes datafiles without $schema, so that a
// validator can tell all of them. Nothing else should read such a bundle.
func ParseUnchecked(raw []byte, like *Bundle) (*Bundle, error) {
	return parse(raw, digest(raw), like, needNothing)
}

// ParseAs is [Parse] for bytes that are put together from what a server tells of
// a bundle; sha256 is that of the bundle file there.
func ParseAs(raw []byte, sha256 string, like *Bundle) (*Bundle, error) {
	return parse(raw, sha256, like, needSchema)
}

func digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

func parse(raw []byte, sha256 string, like *Bundle, datafile need) (*Bundle, error) {
	if len(raw) == 0 {
		return nil, errors.New("the file is empty: make the bundle again")
	}
	if like == nil {
		like = &Bundle{}
	}
	r := reader{scanner: scanner{data: raw, mentions: make([]mention, 0, len(raw)/bytesPerMention)}, b: &Bundle{}, datafile: datafile}
	if err := r.bundle(like); err != nil {
		var syntax *SyntaxError
		if errors.As(err, &syntax) {
			err = fmt.Errorf("%w: not a whole bundle; make it again", err)
		}
		return nil, err
	}
	r.b.sha256 = sha256
	return r.b, nil
}
