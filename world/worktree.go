package world

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/app-sre/prcheck/internal/git"
)

// WorkTreeOptions are options of [OfWorkTree] and [OfFolder].
type WorkTreeOptions struct {
	// Leave says which files that git does not track do not belong to the tree; nil: all of them do.
	Leave func(path string) bool
	// Names lists the names of all files, links and other entries of the working tree that are no folders, which saves
	// asking git for them; it may be nil.
	Names func() ([]string, error)
	// Keeper stores the bytes of files that git does not have, as they are now. Without its folder nothing is stored,
	// and [Keeper.Keep] reads these files from the working tree, if they are still the same then.
	Keeper Keeper
}

// OfWorkTree returns the tree of the working tree that a folder lies in: what HEAD has, with all edits and deletions,
// and with the files that git neither tracks nor ignores.
//
// Edits count also where git was told not to look. A file that a sparse checkout leaves out is there as committed. A
// file with a conflict has the bytes on disk.
func OfWorkTree(ctx context.Context, dir string, o WorkTreeOptions) (*Tree, error) {
	repo, err := git.FindRepository(ctx, dir)
	if err != nil {
		return nil, err
	}
	return ofWorkTree(ctx, repo.Root(), o, false)
}

// ofWorkTree reads the working tree with this root. An inner one may have no commit.
func ofWorkTree(ctx context.Context, root string, o WorkTreeOptions, isInner bool) (*Tree, error) {
	state, err := git.ReadState(ctx, root, o.Names)
	if err != nil && !(isInner && git.IsUnborn(err)) {
		return nil, err
	}
	r := &workReader{options: o, root: root, state: state, digits: len(state.Commit)}
	if r.digits == 0 {
		r.digits = 40
	}
	r.tree = &Tree{root: root, gitDir: root, commit: state.Commit, links: map[string]string{},
		onDisk: map[string]bool{}, committed: map[string]string{}}
	r.tree.files = make([]File, 0, len(state.Files)+len(state.Others))
	for _, f := range state.Files {
		if err := r.addTracked(ctx, f); err != nil {
			return nil, err
		}
	}
	for _, name := range state.Others {
		if err := r.addOther(ctx, name); err != nil {
			return nil, err
		}
	}
	if err := r.tree.finish(r.digits); err != nil {
		return nil, err
	}
	r.finishEdited()
	return r.tree, nil
}

// A workReader makes the tree of a working tree.
type workReader struct {
	options WorkTreeOptions
	root    string
	state   git.State
	digits  int // of ids
	tree    *Tree
}

// addTracked adds a file of the index as it is in the working tree.
func (r *workReader) addTracked(ctx context.Context, f git.IndexFile) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	is := File{f.Path, f.Mode, f.ID}
	switch {
	case f.Mode == modeSubmodule && f.Found == git.Folder:
		return r.addSubmodule(ctx, is)
	case f.Found == git.Absent && f.IsSkipped:
		r.tree.files = append(r.tree.files, is)
		return r.rememberLink(ctx, is)
	case f.IsUnchanged && !f.IsConverted:
		is.Mode = r.modeOf(f.Found, f.Mode)
		r.tree.files = append(r.tree.files, is)
	case f.Found != git.Absent && f.Found != git.Folder && f.Found != git.Special:
		var err error
		if is, err = r.addFromDisk(f.Path, f.Found, f.Mode, f.ID); err != nil {
			return err
		}
		if isOther := is.ID != f.ID; isOther && f.IsConverted && (f.IsUnchanged || r.convertsTo(f, is.ID)) {
			r.tree.committed[f.Path] = f.ID
		}
	default:
		is = File{}
	}
	if f.IsHidden && !r.isAsIn(is, File{f.Path, f.Mode, f.ID}) {
		r.tree.hidden = append(r.tree.hidden, f.Path)
	}
	if _, isStaged := r.state.Staged[f.Path]; !isStaged &&
		(f.IsAnnounced || !r.isAsIn(is, File{f.Path, f.Mode, f.ID})) {
		r.tree.edited = append(r.tree.edited, f.Path)
	}
	return nil
}

// isAsIn reports whether a file of the tree is as git has it. A file that is not there is the zero File.
func (r *workReader) isAsIn(is, committed File) bool {
	return is == committed || is.Path != "" && is.Mode == committed.Mode && r.tree.committedID(is) == committed.ID
}

// modeOf returns git's mode of a file on disk that has a mode in the index, "" when it has none.
func (r *workReader) modeOf(found git.Found, inIndex string) string {
	switch {
	case found == git.SymbolicLink:
		return modeLink
	case r.state.Settings.HasNoLinks && inIndex == modeLink:
		return modeLink
	case r.state.Settings.IgnoresModes && (inIndex == modeFile || inIndex == modeProgram):
		return inIndex
	case found == git.Program && !r.state.Settings.IgnoresModes:
		return modeProgram
	}
	return modeFile
}

// addFromDisk adds a file or a link with the bytes that it has on disk.
func (r *workReader) addFromDisk(name string, found git.Found, mode, inIndex string) (File, error) {
	f := File{Path: name, Mode: r.modeOf(found, mode)}
	at := filepath.Join(r.root, filepath.FromSlash(name))
	var err error
	if found == git.SymbolicLink {
		text, failed := os.Readlink(at)
		f.ID, err = blobID(r.digits, []byte(text)), failed
		r.tree.links[f.ID] = text
	} else {
		f.ID, err = r.options.Keeper.freeze(at, r.digits, inIndex)
	}
	if err != nil {
		return f, fmt.Errorf("reading %q of the working tree: %w", name, err)
	}
	if f.Mode == modeLink && found != git.SymbolicLink {
		raw, err := os.ReadFile(at)
		if err != nil {
			return f, fmt.Errorf("reading %q of the working tree: %w", name, err)
		}
		r.tree.links[f.ID] = string(raw)
	}
	if f.ID != inIndex {
		r.tree.onDisk[name] = true
	}
	r.tree.files = append(r.tree.files, f)
	return f, nil
}

// addOther adds a file that git does not track, or the files of a repository.
func (r *workReader) addOther(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if folder := path.Clean(name); folder != name {
		return r.addRepository(ctx, folder)
	}
	if r.options.Leave != nil && r.options.Leave(name) {
		return nil
	}
	info, err := os.Lstat(filepath.Join(r.root, filepath.FromSlash(name)))
	if err != nil {
		return nil //nolint:nilerr // it was removed meanwhile
	}
	found := git.PlainFile
	switch mode := info.Mode(); {
	case mode&os.ModeSymlink != 0:
		found = git.SymbolicLink
	case !mode.IsRegular():
		return nil
	case mode&0o100 != 0:
		found = git.Program
	}
	if _, err := r.addFromDisk(name, found, "", ""); err != nil {
		return err
	}
	if _, isStaged := r.state.Staged[name]; !isStaged {
		r.tree.edited = append(r.tree.edited, name)
	}
	return nil
}

// finishEdited adds to the edited files those that the index has otherwise than HEAD.
func (r *workReader) finishEdited() {
	for name, committed := range r.state.Staged {
		is, _, _ := r.tree.Lookup(name)
		if is.Mode == "" { // a folder, or nothing
			is = File{}
		}
		if committed.Mode == "" {
			committed.Path = ""
		}
		if !r.isAsIn(is, File(committed)) {
			r.tree.edited = append(r.tree.edited, name)
		}
	}
	slices.Sort(r.tree.edited)
	r.tree.edited = slices.Compact(r.tree.edited)
	slices.Sort(r.tree.hidden)
}

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
