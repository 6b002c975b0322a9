package bundler

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of one file in bytes.
const (
	maxDatafile = 16 << 20
	maxResource = 64 << 20
)

// A Tree is the files of a folder or of a commit.
type Tree interface {
	// List gives all entries at any depth below a folder of the tree, with
	// names relative to that folder.
	List(ctx context.Context, dir string) ([]Entry, error)
	// Open starts a reader, of which several may work at once.
	Open(ctx context.Context) (Reader, error)
}

// A Reader reads files of a tree, one after the other.
type Reader interface {
	// Expect tells which files will be read next, in this order.
	Expect(next []Entry) error
	// Read gives the bytes of a regular file, up to limit and one more. They
	// are good until the next Read.
	Read(e Entry, limit int) ([]byte, error)
	Close() error
}

// An Entry is one name of a tree that is no folder.
type Entry struct {
	Name   string // relative to the folder that was listed, with slashes
	Path   string // in the tree
	Blob   string // git's id of the content, "" when it is not known
	Kind   Kind
	Target string // of a link
}

// Kind says what an entry is.
type Kind int

// The kinds of entries. What is neither a file nor a link is irregular: a
// device, a pipe, a submodule.
const (
	Regular Kind = iota
	Link
	Irregular
)

func (k Kind) String() string { return [...]string{"a file", "a link", "neither a file nor a link"}[k] }

// A Section is one folder of a tree, or one of its files.
type Section struct {
	Tree  Tree
	Dir   string // path in the tree, "." for all of it
	Shown string // what it is called in messages
	JSON  bool   // its datafiles are JSON, whatever their names are
}

// A file is an entry that goes into the bundle.
type file struct {
	path  string // in the bundle
	shown string // in messages
	entry Entry
}

// files lists what a section gives to the bundle, sorted by path.
func (s Section) files(ctx context.Context, takes func(name string) bool, found *problems) ([]file, error) {
	entries, err := s.Tree.List(ctx, s.Dir)
	if err != nil {
		return nil, err
	}
	named := make(map[string]Entry, len(entries))
	for _, e := range entries {
		named[e.Name] = e
	}
	files := make([]file, 0, len(entries))
	for _, e := range entries {
		base := path.Base(e.Name)
		if strings.HasPrefix(base, ".") || !takes(base) {
			continue
		}
		shown := path.Join(s.Shown, e.Name)
		if !utf8.ValidString(e.Name) {
			found.add(shown, Problem{Msg: "the name is not UTF-8: rename it"})
			continue
		}
		target, ok := resolve(named, e)
		if !ok {
			found.add(shown, Problem{Msg: "is " + e.Kind.String() + " inside of " + s.Shown + ": only files, and links to files of that folder, can be bundled"})
			continue
		}
		files = append(files, file{"/" + e.Name, shown, target})
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return files, nil
}

// file finds the entry of a section that is one file.
func (s Section) file(ctx context.Context) (Entry, error) {
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

// maxLinks is how many links in a row are followed.
const maxLinks = 8

// resolve finds the file that an entry is, or leads to within the section.
func resolve(named map[string]Entry, e Entry) (Entry, bool) {
	for range maxLinks {
		switch e.Kind {
		case Regular:
			return e, true
		case Irregular:
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

// isDatafile tells whether a name is one of a datafile or schema.
func isDatafile(name string) bool { return isYAML(name) || suffix(name) == ".json" }

func isYAML(name string) bool { return suffix(name) == ".yml" || suffix(name) == ".yaml" }

// suffix is the end of a name from the last dot on; a name of only a dot and
// letters has none.
func suffix(name string) string {
	i := strings.LastIndexByte(name, '.')
	if i <= 0 || i == len(name)-1 {
		return ""
	}
	return name[i:]
}

func anyFile(string) bool { return true }
