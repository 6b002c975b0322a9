package bundler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
)

// ErrChanged says that a file of a pinned tree changed before it was read.
var ErrChanged = errors.New("changed while the bundle was made")

// maxUnknown is up to how many files of a working tree are read to know their contents.
const maxUnknown = 1000

// Pin returns an input with the same files that stays as it is, and a hash of everything that
// its bundle is made from. The hash is "" when the files do not come from a commit or a
// working tree of git, or when most of them are unknown to git.
//
// A commit never changes. Of a working tree the names are listed once, and the contents are
// identified; reading a file that changed afterwards is the error [ErrChanged].
func Pin(ctx context.Context, in Input) (Input, string, error) {
	switch t := in.Data.Tree.(type) {
	case CommitTree:
		key, err := Key(ctx, in)
		return in, key, err
	case *WorkTree:
		p := &pinnedTree{WorkTree: t, listed: map[string][]Entry{}}
		out := in
		for _, s := range []*TreePart{&out.Data, &out.Resources, &out.Schemas, &out.GraphQL} {
			if s.Tree == Tree(t) {
				s.Tree = p
			}
		}
		key, err := p.key(ctx, out)
		if err != nil {
			return in, "", ctx.Err() // making the bundle tells about a file that cannot be read
		}
		return out, key, nil
	}
	return in, "", nil
}

// Holds reports whether the key of an input, from [Pin] or [Key], is still right: files outside
// of the commit or the working tree may have changed.
func Holds(ctx context.Context, in Input, key string) (bool, error) {
	isOutside := func(s TreePart) bool { return s.Tree != in.Data.Tree }
	if !slices.ContainsFunc([]TreePart{in.Resources, in.Schemas, in.GraphQL}, isOutside) {
		return true, nil
	}
	now, err := "", error(nil)
	switch t := in.Data.Tree.(type) {
	case CommitTree:
		now, err = Key(ctx, in)
	case *pinnedTree:
		now, err = t.key(ctx, in)
	}
	return now == key, err
}

// errUnknown says that a key would take reading too many files.
var errUnknown = errors.New("most files are unknown to git")

// A pinnedTree is a working tree whose listings stay as they are, with the ids of the contents.
type pinnedTree struct {
	*WorkTree
	listed  map[string][]Entry // by folder
	unknown int                // how many files were read
}

// key pins all sections of an input, and returns a hash of them.
func (p *pinnedTree) key(ctx context.Context, in Input) (string, error) {
	h := sha256.New()
	hashf(h, "working tree %s\n%s\n%s\n", cacheFormat, in.Commit, in.Timestamp)
	for i, s := range []TreePart{in.Data, in.Resources, in.Schemas, in.GraphQL} {
		isFile := i == 3
		if s.Tree != Tree(p) {
			list := s.listFolder
			if isFile {
				list = s.listSingle
			}
			if err := s.hashTo(ctx, h, "", list); err != nil {
				return "", err
			}
			continue
		}
		dir, name := s.Dir, ""
		if isFile {
			dir, name = path.Split(s.Dir)
			dir = path.Clean("./" + dir)
		}
		entries, err := p.pin(ctx, dir, name)
		if err != nil && !(s.Optional && errors.Is(err, errNoFolder)) {
			return "", err
		}
		hashf(h, "%q %q %t %d\n", s.Dir, name, s.JSON, len(entries))
		text := make([]byte, 0, 128*len(entries))
		for _, e := range entries {
			for _, field := range []string{e.Name, e.Kind.String(), e.Target, e.Blob} {
				text = appendField(text, field)
			}
		}
		h.Write(text)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// pin lists a folder and identifies the contents of its files, or only of the file with a name.
// It returns the entries whose contents it identified, in the order of the listing.
func (p *pinnedTree) pin(ctx context.Context, dir, name string) (pinned []Entry, err error) {
	entries, ok := p.listed[dir]
	if !ok {
		if entries, err = p.WorkTree.List(ctx, dir); err != nil {
			return nil, err
		}
		p.listed[dir] = entries
	}
	r, err := p.WorkTree.Open(ctx)
	if err != nil {
		return nil, err
	}
	for i := range entries {
		e := &entries[i]
		if name != "" && e.Name != name {
			continue
		}
		if e.Kind == Regular && e.Blob == "" {
			if e.Blob, err = p.identify(r, *e); err != nil {
				return nil, errors.Join(err, r.Close())
			}
		}
		pinned = append(pinned, *e)
	}
	return pinned, r.Close()
}

// identify reads a file and returns the id of its content.
func (p *pinnedTree) identify(r Reader, e Entry) (string, error) {
	if p.unknown++; p.unknown > maxUnknown {
		return "", errUnknown
	}
	raw, err := r.Read(e, maxResource)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", e.Path, err)
	}
	return idOf(raw), nil
}

// idOf returns git's id of a content.
func idOf(raw []byte) string {
	k := newContentKey(raw, 0)
	return hex.EncodeToString(k.blob[:])
}

// List returns the entries of a folder as they were when the tree was pinned.
func (p *pinnedTree) List(ctx context.Context, dir string) ([]Entry, error) {
	if entries, ok := p.listed[dir]; ok {
		return slices.Clone(entries), nil
	}
	return p.WorkTree.List(ctx, dir)
}

// Open returns a reader that notices when a content has changed.
func (p *pinnedTree) Open(ctx context.Context) (Reader, error) {
	r, err := p.WorkTree.Open(ctx)
	return pinnedReader{r}, err
}

// A pinnedReader reads files of a pinned tree.
type pinnedReader struct{ Reader }

// Read reads a file, which must have the content of the entry.
func (r pinnedReader) Read(e Entry, limit int) ([]byte, error) {
	raw, err := r.Reader.Read(e, limit)
	if err == nil && len(raw) <= limit && idOf(raw) != e.Blob {
		return nil, ErrChanged
	}
	return raw, err
}
