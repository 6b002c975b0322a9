package bundler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// The bounds of one file, in bytes.
const (
	maxDatafile = 16 << 20
	maxResource = 64 << 20
)

// A Tree gives access to the files of a folder or of a commit.
type Tree interface {
	// List returns all entries at any depth below a folder of the tree, with
	// names relative to that folder. The error is errNoFolder if the tree has
	// nothing of that name.
	List(ctx context.Context, dir string) ([]Entry, error)
	// Open returns a reader. Several readers may be used at once.
	Open(ctx context.Context) (Reader, error)
}

// A Reader reads files of a tree, one after the other.
type Reader interface {
	// Expect announces the files that will be read next, in this order.
	Expect(next []Entry) error
	// Read returns the bytes of a regular file: all of them, or limit+1 if there
	// are more than limit. They are valid until the next Read.
	Read(e Entry, limit int) ([]byte, error)
	Close() error
}

// An Entry is one name in a tree, other than that of a folder.
type Entry struct {
	Name   string // relative to the folder that was listed, with slashes
	Path   string // in the tree
	Blob   string // git's id of the content; "" if not known
	Kind   EntryKind
	Target string // of a link
}

// An EntryKind says whether an entry is a file, a link or something else.
type EntryKind int

// The kinds of entries. An irregular entry is neither a file nor a link, but a
// device or a pipe.
const (
	Regular EntryKind = iota
	Link
	Irregular
	Submodule
)

// String returns the kind as words for messages.
func (k EntryKind) String() string {
	return [...]string{"a file", "a link", "neither a file nor a link", "a submodule"}[k]
}

// A TreePart is one folder of a tree, or one file of it.
type TreePart struct {
	Tree     Tree
	Dir      string // path of the folder or file in the tree; "." for the whole tree
	Shown    string // the name of the section in messages
	JSON     bool   // all files are JSON, whatever their names are
	Optional bool   // the folder may be missing, and is as good as empty then
}

// errNoFolder says that a tree has nothing with the name of a folder, not even a link.
var errNoFolder = errors.New("no such file or directory")

// list returns the entries of a section that is a folder.
func (s TreePart) list(ctx context.Context) ([]Entry, error) {
	entries, err := s.Tree.List(ctx, s.Dir)
	if s.Optional && errors.Is(err, errNoFolder) {
		return nil, nil
	}
	return entries, err
}

// A sourceFile is an entry that becomes a part of the bundle.
type sourceFile struct {
	path  string // in the bundle
	shown string // in messages
	entry Entry
}

// listFiles returns the files of a section that become parts of the bundle, sorted
// by path. Takes selects files by name; files whose name begins with a dot are left
// out.
func (s TreePart) listFiles(ctx context.Context, takes func(name string) bool, found *problems) ([]sourceFile, error) {
	entries, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	named := make(map[string]Entry, len(entries))
	for _, e := range entries {
		named[e.Name] = e
	}
	files := make([]sourceFile, 0, len(entries))
	for _, e := range entries {
		base, shown := path.Base(e.Name), path.Join(s.Shown, e.Name)
		if e.Kind == Submodule {
			found.add(shown,
				Problem{Msg: "is a submodule inside of " + s.Shown +
					", whose files are not in this commit: keep them in the repository itself"})
			continue
		}
		if strings.HasPrefix(base, ".") || !takes(base) {
			continue
		}
		if !utf8.ValidString(e.Name) {
			found.add(shown, Problem{Msg: "the name is not UTF-8: rename it"})
			continue
		}
		target, ok := resolveLink(named, e)
		if !ok {
			found.add(shown,
				Problem{Msg: "is " + e.Kind.String() + " inside of " + s.Shown +
					": only files, and links to files of that folder, can be bundled"})
			continue
		}
		files = append(files, sourceFile{"/" + e.Name, shown, target})
	}
	slices.SortFunc(files, func(a, b sourceFile) int { return strings.Compare(a.path, b.path) })
	return files, nil
}

// findFile returns the entry of a section that is one file.
func (s TreePart) findFile(ctx context.Context) (Entry, error) {
	dir, base := path.Split(s.Dir)
	entries, err := s.Tree.List(ctx, path.Clean("./"+dir))
	if err != nil {
		return Entry{}, err
	}
	for _, e := range entries {
		if e.Name == base && e.Kind == Regular {
			return e, nil
		}
	}
	return Entry{}, fmt.Errorf("there is no file %s", s.Shown)
}

// maxLinks is the largest number of links that are followed in a row.
const maxLinks = 8

// resolveLink returns the file to which an entry leads: the entry itself if it is a
// file, or the target of a link within the section.
func resolveLink(named map[string]Entry, e Entry) (Entry, bool) {
	for range maxLinks {
		switch e.Kind {
		case Regular:
			return e, true
		case Irregular, Submodule:
			return e, false
		}
		if path.IsAbs(e.Target) {
			return e, false
		}
		target, ok := named[path.Join(path.Dir(e.Name), e.Target)]
		if !ok {
			return e, false
		}
		e = target
	}
	return e, false
}

// isDatafileName reports whether a file with this name is a datafile or a schema.
func isDatafileName(name string) bool { return isYAMLName(name) || fileExtension(name) == ".json" }

// isYAMLName reports whether a file with this name is YAML.
func isYAMLName(name string) bool {
	return fileExtension(name) == ".yml" || fileExtension(name) == ".yaml"
}

// fileExtension returns the end of a name from the last dot on. A name such as
// ".yml", whose only dot comes first, has no extension.
func fileExtension(name string) string {
	i := strings.LastIndexByte(name, '.')
	if i <= 0 || i == len(name)-1 {
		return ""
	}
	return name[i:]
}

// anyName accepts every name.
func anyName(string) bool { return true }

// Key returns a hash of everything that the bundle of a commit is made from. It
// returns "" if the datafiles do not come from a commit.
func Key(ctx context.Context, in Input) (string, error) {
	if _, ok := in.Data.Tree.(CommitTree); !ok {
		return "", nil
	}
	sections := []TreePart{in.Data, in.Resources, in.Schemas, in.GraphQL}
	ids, err := objectIDs(ctx, sections)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	hashf(h, "%s\n%s\n%s\n", cacheFormat, in.Commit, in.Timestamp)
	for i, s := range sections {
		list := s.listFolder
		if i == len(sections)-1 {
			list = s.listSingle
		}
		if err := s.hashTo(ctx, h, ids[i], list); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// objectIDs returns git's ids of the sections that come from the commit of the datafiles, and
// "" for all others.
func objectIDs(ctx context.Context, sections []TreePart) ([]string, error) {
	var dirs []string
	for _, s := range sections {
		if s.Tree == sections[0].Tree {
			dirs = append(dirs, s.Dir)
		}
	}
	found, err := sections[0].Tree.(CommitTree).Commit.ObjectIDs(ctx, dirs...)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(sections))
	for i, s := range sections {
		if s.Tree == sections[0].Tree {
			ids[i], found = found[0], found[1:]
		}
	}
	return ids, nil
}

// hashf formats text into a hash.
func hashf(h hash.Hash, format string, args ...any) { h.Write(fmt.Appendf(nil, format, args...)) }

// listFolder lists a section that is a folder.
func (s TreePart) listFolder(ctx context.Context) ([]Entry, error) { return s.list(ctx) }

// listSingle lists a section that is one file.
func (s TreePart) listSingle(ctx context.Context) ([]Entry, error) {
	e, err := s.findFile(ctx)
	return []Entry{e}, err
}

// hashTo adds the content of a section to a hash: git's id of a section in a
// commit, or the names and contents of all files.
func (s TreePart) hashTo(ctx context.Context, h hash.Hash, id string,
	list func(context.Context) ([]Entry, error)) error {
	hashf(h, "%q %t ", s.Dir, s.JSON)
	if t, ok := s.Tree.(CommitTree); ok {
		hashf(h, "%s\n", id)
		if id == "" && (!s.Optional || !errors.Is(t.noFolder(ctx, s.Dir), errNoFolder)) {
			return fmt.Errorf("commit %.12s of %q has no %q: say under checkout in the settings where it is", t.Commit.Hash(),
				t.Commit.Dir(), s.Dir)
		}
		return nil
	}
	entries, err := list(ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	r, err := s.Tree.Open(ctx)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Kind != Regular {
			hashf(h, "%q %d %q\n", e.Name, e.Kind, e.Target)
			continue
		}
		raw, err := r.Read(e, maxResource)
		if err != nil {
			return errors.Join(fmt.Errorf("reading %s: %w", e.Path, err), r.Close())
		}
		hashf(h, "%q %x\n", e.Name, sha256.Sum256(raw))
	}
	return r.Close()
}

// Text reads one file of a section by its path in the bundle, for messages that
// name lines of the file. If the section is one file, any path means that file. The
// listing saves listing the section again for the next file.
func (s TreePart) Text(ctx context.Context, p string, known *Listing) ([]byte, error) {
	e, err := known.find(ctx, s, p)
	if err != nil {
		return nil, err
	}
	r, err := s.Tree.Open(ctx)
	if err != nil {
		return nil, err
	}
	raw, err := r.Read(e, maxDatafile)
	if err == nil && len(raw) > maxDatafile {
		err = fmt.Errorf("%s is larger than %d bytes", path.Join(s.Shown, p), maxDatafile)
	}
	raw = slices.Clone(raw) // the reader owns it
	return raw, errors.Join(err, r.Close())
}

// A Listing keeps the entries of a section for several calls of [TreePart.Text]. The
// zero value is filled by the first call.
type Listing struct{ entries map[string]Entry }

// find returns the entry of a file of a section by its path in the bundle.
func (l *Listing) find(ctx context.Context, s TreePart, p string) (Entry, error) {
	if l.entries == nil {
		entries, err := s.list(ctx)
		if err != nil {
			return s.findFile(ctx)
		}
		l.entries = make(map[string]Entry, len(entries))
		for _, e := range entries {
			l.entries[e.Name] = e
		}
	}
	if e, ok := resolveLink(l.entries, l.entries[strings.TrimPrefix(p, "/")]); ok && e.Path != "" {
		return e, nil
	}
	return s.findFile(ctx)
}

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
