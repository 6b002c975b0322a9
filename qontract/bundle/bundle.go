package bundle

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
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

// Mentions is an index from paths to the datafiles that mention them. Every string value
// that begins with a slash counts as a mention, whatever its key, and so does every $ref.
// So the mentions include all references, all resources that a datafile names, and all
// paths that back references compare.
type Mentions struct {
	first    *Bundle
	parts    []*mentionPart // of the first bundle, and of the files that only others have
	complete bool
}

// A mentionPart is the index of some files.
type mentionPart struct {
	files    []*File
	index    mentionIndex
	dangling func() []DanglingRef // of a whole bundle; else nil
}

// IndexMentions returns an index of the datafiles of all given bundles. A bundle keeps its own
// index, so that only the files in which the others differ from the first bundle are read.
func IndexMentions(first *Bundle, others ...*Bundle) *Mentions {
	m := &Mentions{first: first, parts: []*mentionPart{first.mentionPart()}, complete: !first.hasPathWithoutSlash}
	seen := []*Bundle{first}
	for _, b := range others {
		m.complete = m.complete && !b.hasPathWithoutSlash
		if own := b.datafilesBesides(seen); len(own) > 0 {
			m.parts = append(m.parts, &mentionPart{files: own, index: indexMentions(own)})
		}
		seen = append(seen, b)
	}
	return m
}

// mentionPart returns the index of the datafiles of a bundle.
func (b *Bundle) mentionPart() *mentionPart {
	if p := b.mentions.Load(); p != nil {
		return p
	}
	p := &mentionPart{files: b.datafiles.files, index: indexMentions(b.datafiles.files)}
	p.dangling = sync.OnceValue(func() []DanglingRef { return b.danglingAmong(b.datafiles.files) })
	b.mentions.Store(p)
	return p
}

// datafilesBesides returns the datafiles that none of some bundles shares.
func (b *Bundle) datafilesBesides(seen []*Bundle) (own []*File) {
	for place, f := range b.datafiles.files {
		shared := func(other *Bundle) bool {
			files := other.datafiles.files
			return place < len(files) && files[place] == f || other.HasDatafile(f)
		}
		if !slices.ContainsFunc(seen, shared) {
			own = append(own, f)
		}
	}
	return own
}

// Of returns the datafiles of any of the bundles that mention a path. A file can be among them
// that does not, if two paths have the same hash.
func (m *Mentions) Of(p Path) []*File { return m.find(p, 0) }

// WithPathValue returns the datafiles of any of the bundles in which a path is the value of
// a key "path". An object with this key has the same back references as the file with this
// path. As with Of, there can be more of them.
func (m *Mentions) WithPathValue(p Path) []*File { return m.find(p, mentionedByPath) }

// find returns the files with a mention of a path that has all of some flags.
func (m *Mentions) find(p Path, flags uint32) (out []*File) {
	for _, part := range m.parts {
		part.index.each(string(p), flags, func(place int) {
			if f := part.files[place]; len(out) == 0 || out[len(out)-1] != f {
				out = append(out, f)
			}
		})
	}
	return out
}

// IsComplete reports whether the index has all mentions. If a bundle has a path that does
// not begin with a slash, the index misses mentions of it.
func (m *Mentions) IsComplete() bool { return m.complete }

// EachMention calls yield for every string of the file that may name a file, until yield
// returns false.
func (f *File) EachMention(yield func(Path) bool) {
	for _, at := range f.found() {
		if !yield(f.mentionedPath(at)) {
			return
		}
	}
}

// EachHolder calls yield for each reference to target, with the key under which the
// reference stands, directly or as an item of a list.
func (f *File) EachHolder(target Path, yield func(key string)) {
	for _, at := range f.found() {
		if at.keyKind == refKey && f.mentionedPath(at) == target {
			yield(unescape(f.text()[at.holder.start:at.holder.end]))
		}
	}
}

func (f *File) mentionedPath(at mention) Path {
	return Path(unescape(f.text()[at.start+1 : at.end-1]))
}

// A DanglingRef is a reference whose target is not in the bundle.
type DanglingRef struct {
	From, To Path
}

// DanglingRefs returns the references in the datafiles of a bundle whose targets do not
// exist, each of them once, in the order of the bundle. The index must cover the bundle.
func (m *Mentions) DanglingRefs(b *Bundle) []DanglingRef {
	if b == m.first {
		return m.parts[0].dangling()
	}
	var out []DanglingRef
	for _, r := range m.parts[0].dangling() {
		if f, ok := b.Datafile(r.From); ok && m.first.HasDatafile(f) && !b.hasDatafileAt(r.To) {
			out = append(out, r)
		}
	}
	for _, gone := range m.first.datafilesBesides([]*Bundle{b}) {
		if b.hasDatafileAt(gone.Path) {
			continue
		}
		for _, f := range m.Of(gone.Path) {
			if b.HasDatafile(f) && m.first.HasDatafile(f) && f.refersTo(gone.Path) {
				out = append(out, DanglingRef{f.Path, gone.Path})
			}
		}
	}
	return b.sortDangling(append(out, b.danglingAmong(b.datafilesBesides([]*Bundle{m.first}))...))
}

// danglingAmong returns the references of some datafiles of the bundle that lead nowhere.
func (b *Bundle) danglingAmong(files []*File) (out []DanglingRef) {
	for _, f := range files {
		for _, at := range f.found() {
			if to := f.mentionedPath(at); at.keyKind == refKey && !b.hasDatafileAt(to) {
				out = append(out, DanglingRef{f.Path, to})
			}
		}
	}
	return b.sortDangling(out)
}

// hasDatafileAt reports whether there is a datafile with a path.
func (b *Bundle) hasDatafileAt(p Path) bool {
	_, ok := b.datafiles.indexOf[p]
	return ok
}

// sortDangling sorts references by the order of the bundle, and takes repeated ones out.
func (b *Bundle) sortDangling(refs []DanglingRef) []DanglingRef {
	slices.SortFunc(refs, func(x, y DanglingRef) int {
		return cmp.Or(cmp.Compare(b.DatafileIndex(x.From), b.DatafileIndex(y.From)), cmp.Compare(x.To, y.To))
	})
	return slices.Compact(refs)
}

func (f *File) refersTo(p Path) bool {
	found := false
	f.EachHolder(p, func(string) { found = true })
	return found
}

// maxDifference is up to how many files a difference has.
const maxDifference = 2000

// A writtenDifference is what [Bundle.Difference] writes: the JSON texts of files by their path, nil
// for files that head does not have.
type writtenDifference struct {
	SHA256, Commit, Timestamp     string
	Datafiles, Resources, Schemas map[Path]*string
}

// Difference writes down how head differs from a bundle, so that [Bundle.WithDifference]
// makes head of it. It is not ok when the GraphQL types differ, or too many files do.
func (b *Bundle) Difference(head *Bundle) (raw []byte, ok bool) {
	d := writtenDifference{
		SHA256: head.SHA256(), Commit: head.commit, Timestamp: head.timestamp,
		Datafiles: head.datafiles.differenceFrom(&b.datafiles),
		Resources: head.resources.differenceFrom(&b.resources),
		Schemas:   head.schemas.differenceFrom(&b.schemas),
	}
	if !b.HasSameGraphQL(head) || len(d.Datafiles)+len(d.Resources)+len(d.Schemas) > maxDifference {
		return nil, false
	}
	raw, err := json.Marshal(d)
	if err != nil {
		return nil, false
	}
	again, err := b.WithDifference(raw)
	return raw, err == nil && again.hasFilesOf(head)
}

// differenceFrom returns the texts of the files that differ from those of base.
func (s *section) differenceFrom(base *section) map[Path]*string {
	out := map[Path]*string{}
	for _, c := range differingFiles(base, s) {
		out[c.Path] = nil
		if c.New != nil {
			text := string(c.New.text())
			out[c.Path] = &text
		}
	}
	return out
}

// hasFilesOf reports whether two bundles have the same files in the same order.
func (b *Bundle) hasFilesOf(other *Bundle) bool {
	same := func(x, y *File) bool {
		return x == y || x.Path == y.Path && x.Schema == y.Schema && bytes.Equal(x.text(), y.text())
	}
	return b.hasPathWithoutSlash == other.hasPathWithoutSlash && slices.EqualFunc(b.datafiles.files, other.datafiles.files,
		same) &&
		slices.EqualFunc(b.resources.files, other.resources.files, same) &&
		slices.EqualFunc(b.schemas.files, other.schemas.files, same)
}

// WithDifference returns the bundle whose [Bundle.Difference] from this one was written down.
// It shares all files that both have.
func (b *Bundle) WithDifference(raw []byte) (*Bundle, error) {
	var d writtenDifference
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, err
	}
	if d.SHA256 == "" {
		return nil, errors.New("not a difference of bundles")
	}
	out, err := b.Patched(Patch{Datafiles: textsOf(d.Datafiles), Resources: textsOf(d.Resources),
		Schemas: textsOf(d.Schemas)})
	if err != nil {
		return nil, err
	}
	out.sha256, out.commit, out.timestamp = known(d.SHA256), d.Commit, d.Timestamp
	return out, nil
}

// textsOf returns the texts of files as a patch has them.
func textsOf(files map[Path]*string) map[Path][]byte {
	out := make(map[Path][]byte, len(files))
	for p, text := range files {
		out[p] = nil
		if text != nil {
			out[p] = []byte(*text)
		}
	}
	return out
}

// Apart returns base, or the same bundle under another name if head is the same bundle. The
// other name is a sha256, a commit and a time that follow from the real ones.
//
// A program may look whether base and head are the same, and then do nothing. A run that is
// recorded or compared must not do nothing, so its base and head have different names.
func Apart(base, head *Bundle) *Bundle {
	if base.SHA256() != head.SHA256() {
		return base
	}
	out := &Bundle{
		sha256: known(otherName(base.SHA256())), commit: otherName(base.commit), timestamp: base.timestamp,
		datafiles: base.datafiles, resources: base.resources, schemas: base.schemas, bySchema: base.bySchema,
		graphql: base.graphql, hasPathWithoutSlash: base.hasPathWithoutSlash, indexed: base.indexed,
	}
	if seconds, err := strconv.ParseInt(base.timestamp, 10, 64); err == nil {
		out.timestamp = strconv.FormatInt(seconds-1, 10)
	}
	out.types.Store(base.types.Load())
	out.mentions.Store(base.mentions.Load())
	return out
}

// otherName returns another name of the same length in hex digits; "" for "".
func otherName(name string) string {
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("base, apart from head: "+name)))
	return sum[:min(len(name), len(sum))]
}
