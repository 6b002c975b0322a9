package world

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/app-sre/prcheck/internal/git"
)

// addSubmodule adds a submodule, and its files if it is checked out.
func (r *workReader) addSubmodule(ctx context.Context, is File) error {
	dir := filepath.Join(r.root, filepath.FromSlash(is.Path))
	inIndex := is
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
			return fmt.Errorf("%q: it has files, but is not a checked out submodule", is.Path)
		}
		r.addSubmoduleEntry(is, inIndex, false)
		return nil
	}
	inner, err := r.readInner(ctx, is.Path, false)
	if err != nil {
		return err
	}
	if inner.commit != "" {
		is.ID = inner.commit
	}
	r.addSubmoduleEntry(is, inIndex, len(inner.edited) > 0)
	for _, name := range r.editedInside(ctx, is.Path, inner) {
		r.tree.edited = append(r.tree.edited, is.Path+"/"+name)
	}
	r.addInnerTree(is.Path, inner)
	return nil
}

// addSubmoduleEntry adds the entry of a submodule.
func (r *workReader) addSubmoduleEntry(is, inIndex File, isDirty bool) {
	r.tree.files = append(r.tree.files, is)
	if _, isStaged := r.state.Staged[is.Path]; isDirty || !isStaged && is != inIndex {
		r.tree.edited = append(r.tree.edited, is.Path)
	}
}

// editedInside returns the files of a submodule that differ from those of the commit that HEAD names.
func (r *workReader) editedInside(ctx context.Context, folder string, inner *Tree) []string {
	committed := r.committedSubmodule(folder)
	if committed == inner.commit {
		return inner.edited
	}
	before, err := ofCommit(ctx, inner.root, inner.root, committed)
	if err != nil { // nothing is known of it: everything may differ
		before = &Tree{}
	}
	return Diff(before, inner)
}

// committedSubmodule returns the commit of a submodule that HEAD names, "" when it names none.
func (r *workReader) committedSubmodule(folder string) string {
	if e, isStaged := r.state.Staged[folder]; isStaged {
		if e.Mode == modeSubmodule {
			return e.ID
		}
		return ""
	}
	for _, f := range r.state.Files {
		if f.Path == folder {
			return f.ID
		}
	}
	return ""
}

// addRepository adds the files of a repository that git does not track.
func (r *workReader) addRepository(ctx context.Context, folder string) error {
	inner, err := r.readInner(ctx, folder, true)
	if err != nil {
		return err
	}
	for _, f := range inner.files {
		r.tree.edited = append(r.tree.edited, folder+"/"+f.Path)
	}
	r.addInnerTree(folder, inner)
	return nil
}

// readInner reads the working tree of a repository in a folder. Of one that the outer repository does not track, no
// file counts as tracked.
func (r *workReader) readInner(ctx context.Context, folder string, isUntracked bool) (*Tree, error) {
	o := WorkTreeOptions{Keeper: r.options.Keeper}
	leave := r.options.Leave
	if leave != nil {
		o.Leave = func(name string) bool { return leave(path.Join(folder, name)) }
	}
	inner, err := ofWorkTree(ctx, filepath.Join(r.root, filepath.FromSlash(folder)), o, true)
	if err != nil {
		return nil, fmt.Errorf("the repository in %q: %w", folder, err)
	}
	if isUntracked && leave != nil {
		kept := inner.files[:0]
		for _, f := range inner.files {
			if !o.Leave(f.Path) {
				kept = append(kept, f)
			}
		}
		inner.files = kept
	}
	return inner, nil
}

// addInnerTree adds the files of a repository, and those of which git hides edits.
func (r *workReader) addInnerTree(folder string, inner *Tree) {
	r.tree.addInner(folder, inner)
	for _, name := range inner.hidden {
		r.tree.hidden = append(r.tree.hidden, folder+"/"+name)
	}
}

// rememberLink reads the text of a link that is not on disk.
func (r *workReader) rememberLink(ctx context.Context, f File) error {
	if f.Mode != modeLink {
		return nil
	}
	more := &Tree{gitDir: r.root}
	if err := more.readLinks(ctx, []File{f}); err != nil {
		return err
	}
	r.tree.links[f.ID] = more.links[f.ID]
	return nil
}

// maxConverted bounds the size of files of which is found out whether they are those of the index but for a conversion.
const maxConverted = 64 << 20

// convertsTo reports whether a file of the working tree, whose bytes have an id, becomes the content that git has of it
// when its line ends are converted, or when Git LFS puts a pointer in its place. Line ends count only where git may
// have converted them. Those of a file with a zero byte, which most likely is no text, never do.
func (r *workReader) convertsTo(f git.IndexFile, id string) bool {
	name := filepath.Join(r.root, filepath.FromSlash(f.Path))
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxConverted {
		return false
	}
	raw, err := os.ReadFile(name)
	if err != nil || blobID(r.digits, raw) != id { // it was edited since its id was computed
		return false
	}
	if f.IsText && !bytes.Contains(raw, []byte{0}) {
		if blobID(r.digits, bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))) == f.ID {
			return true
		}
	}
	pointer := fmt.Appendf(nil, "version https://git-lfs.github.com/spec/v1\noid sha256:%x\nsize %d\n",
		sha256.Sum256(raw), len(raw))
	return blobID(r.digits, pointer) == f.ID
}
