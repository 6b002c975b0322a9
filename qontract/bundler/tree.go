package bundler

import (
	"context"
	"errors"
	"fmt"
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
