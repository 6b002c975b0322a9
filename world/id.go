package world

import (
	"crypto/sha1" //nolint:gosec // git's
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"path"
	"slices"
	"strconv"
	"strings"
)

// newHash returns the hash that a repository uses whose ids have a number of digits.
func newHash(digits int) hash.Hash {
	if digits == 2*sha256.Size {
		return sha256.New()
	}
	return sha1.New() //nolint:gosec // git's
}

// newBlobHash returns the hash for git's id of a file of some size, to which the bytes of the file are written.
func newBlobHash(digits int, size int64) hash.Hash {
	h := newHash(digits)
	h.Write(append(strconv.AppendInt([]byte("blob "), size, 10), 0))
	return h
}

// objectID returns git's id of an object.
func objectID(h hash.Hash, kind string, raw []byte) []byte {
	h.Reset()
	h.Write(append(strconv.AppendInt([]byte(kind+" "), int64(len(raw)), 10), 0))
	h.Write(raw)
	return h.Sum(nil)
}

// blobID returns git's id of the bytes of a file.
func blobID(digits int, raw []byte) string {
	return hex.EncodeToString(objectID(newHash(digits), "blob", raw))
}

// finish sorts the files, computes the id of the tree, and finds out whether it can be made at all.
func (t *Tree) finish(digits int) error {
	byPath := func(a, b File) int { return strings.Compare(a.Path, b.Path) }
	if !slices.IsSortedFunc(t.files, byPath) {
		slices.SortFunc(t.files, byPath)
	}
	b := treeBuilder{tree: t, hash: newHash(digits), stack: []folderObject{{}}}
	for i, f := range t.files {
		if i > 0 && t.files[i-1].Path == f.Path {
			b.complain("has %q twice", f.Path)
		}
		if err := b.add(f); err != nil {
			return err
		}
	}
	t.id = hex.EncodeToString(b.close(0))
	t.nested = t.digestNested()
	if slices.ContainsFunc(t.modules, func(m module) bool { return m.isDirty && t.isSubmodule(m) }) {
		t.id += "-" + t.nested
	}
	return nil
}

// isSubmodule reports whether git knows of the files in a repository only the commit. Those in any other repository
// count in the id of the tree.
func (t *Tree) isSubmodule(m module) bool {
	_, kind, _ := t.Lookup(m.folder)
	return kind == Submodule
}

// digestNested returns a text that stands for all files in submodules, "" when there are none.
func (t *Tree) digestNested() string {
	sum := sha256.New()
	n := 0
	for _, m := range t.modules {
		if !t.isSubmodule(m) {
			continue
		}
		for i := t.find(m.folder + "/"); i < len(t.files) && strings.HasPrefix(t.files[i].Path, m.folder+"/"); i++ {
			f := t.files[i]
			_, _ = fmt.Fprintf(sum, "%s %s %d %s\n", f.Mode, f.ID, len(f.Path), f.Path)
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil)[:10])
}

// A treeBuilder computes git's id of a tree from its files in order.
type treeBuilder struct {
	tree  *Tree
	hash  hash.Hash
	stack []folderObject // from the root to the folder of the last file
	skip  string         // folder of a submodule, with a slash at its end
}

// A folderObject is a folder whose entries are not complete.
type folderObject struct {
	prefix string // path with a slash at its end, "" is the root
	raw    []byte // git's tree object
}

// add adds a file to the folders.
func (b *treeBuilder) add(f File) error {
	if b.skip != "" && strings.HasPrefix(f.Path, b.skip) {
		b.check(f.Path[len(b.skip):], f.Path)
		return nil
	}
	keep := len(b.stack)
	for !strings.HasPrefix(f.Path, b.stack[keep-1].prefix) {
		keep--
	}
	b.close(keep)
	rest := f.Path[len(b.stack[keep-1].prefix):]
	b.check(rest, f.Path)
	for {
		_, after, isBelow := strings.Cut(rest, "/")
		if !isBelow {
			break
		}
		prefix := f.Path[:len(f.Path)-len(after)]
		switch at, kind, _ := b.tree.Lookup(strings.TrimSuffix(prefix, "/")); kind {
		case Submodule:
			b.skip = prefix
			return nil
		case Regular, Link:
			b.complain("has %q as a file and as a folder", at.Path)
		}
		b.stack, rest = append(b.stack, folderObject{prefix: prefix}), after
	}
	id, err := hex.DecodeString(f.ID)
	if err != nil || len(id) != b.hash.Size() {
		return fmt.Errorf("the id of %q is %q: not what was expected", f.Path, f.ID)
	}
	b.put(f.Mode, rest, id)
	return nil
}

// put adds an entry to the last folder.
func (b *treeBuilder) put(mode, name string, id []byte) {
	top := &b.stack[len(b.stack)-1]
	top.raw = append(append(append(append(append(top.raw, mode...), ' '), name...), 0), id...)
}

// close completes the folders from a place of the stack on, and returns the id of the first of them.
func (b *treeBuilder) close(from int) (id []byte) {
	for len(b.stack) > from {
		top := b.stack[len(b.stack)-1]
		b.stack = b.stack[:len(b.stack)-1]
		id = objectID(b.hash, "tree", top.raw)
		if len(b.stack) > 0 {
			b.put("40000", path.Base(top.prefix), id)
		}
	}
	return id
}

// check complains about names that git does not write into a working tree either.
func (b *treeBuilder) check(rest, whole string) {
	for name := range strings.SplitSeq(rest, "/") {
		if name == "" || name == "." || name == ".." || len(name) == 4 && strings.EqualFold(name, ".git") {
			b.complain("has the path %q", whole)
		}
	}
}

// complain notes why the tree cannot be made.
func (b *treeBuilder) complain(text string, args ...any) {
	if b.tree.trouble == "" {
		b.tree.trouble = "the tree " + fmt.Sprintf(text, args...) + ", which no folder can have"
	}
}
