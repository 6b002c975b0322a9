package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/git"
)

// A File is a file, a link or a submodule of a tree.
type File struct {
	Path string // below the root, with slashes; any bytes but zero
	Mode string // git's: "100644", "100755", "120000" for a link, "160000" for a submodule
	ID   string // git's id of the bytes on disk; of a link, of its text; of a submodule, its commit
}

// Modes of git.
const (
	modeFile      = "100644"
	modeProgram   = "100755"
	modeLink      = "120000"
	modeSubmodule = "160000"
)

// A Kind says what a tree has at a path.
type Kind int

// The kinds. Outside and Loop are only said by [Tree.Resolve].
const (
	Missing Kind = iota
	Regular
	Link
	Folder
	Submodule // its files, if it is checked out, are also files of the tree
	Outside   // a link leads out of the tree
	Loop      // more than 40 links
)

func (k Kind) String() string {
	return [...]string{"missing", "a file", "a link", "a folder", "a submodule", "outside", "a loop of links"}[k]
}

// Kind returns what the file is: Regular, Link or Submodule.
func (f File) Kind() Kind {
	switch f.Mode {
	case modeLink:
		return Link
	case modeSubmodule:
		return Submodule
	}
	return Regular
}

// A Tree is the files of one side of a change. It does not change.
type Tree struct {
	root   string
	commit string
	id     string
	files  []File // sorted

	links map[string]string // texts of links, by id

	edited, hidden []string
	trouble        string // why no folder can be made of the tree, "" when nothing is known that prevents it

	isCommit    bool              // the files are those of a commit, not of a folder
	gitDir      string            // where git finds the contents, "" without git
	modules     []module          // repositories in the tree, the outer ones first
	onDisk      map[string]bool   // files whose bytes git does not have
	committed   map[string]string // git's ids of files whose bytes git converted at checkout
	conversions string            // stands for the settings that decide how a checkout converts files; "" for none
	nested      string            // stands for the files in submodules, "" when there are none
}

// A module is a repository that lies in another one.
type module struct {
	folder  string // in the tree
	gitDir  string
	isDirty bool // its files are not those of its commit
}

// ID returns git's id of the tree, computed from the files: that of HEAD^{tree} for a clean working tree. Of a folder
// without git it is "sha256:…". Files in a submodule count as git counts them, by the submodule's commit, unless they
// are not those of this commit.
func (t *Tree) ID() string { return t.id }

// Commit returns the full hash of the commit, of a working tree that of HEAD; "" without git.
func (t *Tree) Commit() string { return t.commit }

// Root returns the root of the repository or folder. It is absolute and has no links.
func (t *Tree) Root() string { return t.root }

// Files returns all files, sorted by path. The caller must not change them.
func (t *Tree) Files() []File { return t.files }

// Edited returns the paths at which a working tree differs from HEAD, sorted. A tree of a commit has none.
func (t *Tree) Edited() []string { return t.edited }

// Hidden returns the edited files that git status does not tell of, since git was told not to look at them: by git
// update-index --assume-unchanged or --skip-worktree.
func (t *Tree) Hidden() []string { return t.hidden }

// find returns the place of the first file whose path is not before a text.
func (t *Tree) find(text string) int {
	return sort.Search(len(t.files), func(i int) bool { return t.files[i].Path >= text })
}

// Lookup returns what the tree has at a path; ok is false when it has nothing there. Of a folder the file has only the
// path; "" and "." are the root.
func (t *Tree) Lookup(path string) (f File, kind Kind, ok bool) {
	if path == "" || path == "." {
		return File{Path: "."}, Folder, true
	}
	if i := t.find(path); i < len(t.files) && t.files[i].Path == path {
		return t.files[i], t.files[i].Kind(), true
	}
	if t.hasBelow(path) {
		return File{Path: path}, Folder, true
	}
	return File{}, Missing, false
}

// hasBelow reports whether the tree has files below a path.
func (t *Tree) hasBelow(path string) bool {
	i := t.find(path + "/")
	return i < len(t.files) && strings.HasPrefix(t.files[i].Path, path+"/")
}

// Names returns the names in a folder, sorted; that of a folder, or of a submodule, has a slash at its end. ok is false
// when there is no such folder. A submodule that is not checked out is an empty folder.
func (t *Tree) Names(folder string) (names []string, ok bool) {
	prefix := folder + "/"
	if folder == "" || folder == "." {
		prefix = ""
	}
	for i := t.find(prefix); i < len(t.files) && strings.HasPrefix(t.files[i].Path, prefix); {
		f := t.files[i]
		name, _, isBelow := strings.Cut(f.Path[len(prefix):], "/")
		switch {
		case isBelow:
			names = append(names, name+"/")
			i = t.find(prefix + name + "0") // "0" is the byte after "/"
		case f.Mode == modeSubmodule:
			names = append(names, name+"/")
			i++
		default:
			names = append(names, name)
			i++
		}
	}
	slices.Sort(names)
	names = slices.Compact(names) // a submodule is there twice: as an entry and as the folder of its files
	f, _, found := t.Lookup(folder)
	return names, len(names) > 0 || prefix == "" || found && f.Mode == modeSubmodule
}

// Diff returns the paths that differ between two trees, sorted: files that only one of them has, or that differ in mode
// or bytes. A file that git converted at checkout is the same as the file of a commit that it was made of.
func Diff(a, b *Tree) []string {
	var out []string
	i, j := 0, 0
	for i < len(a.files) || j < len(b.files) {
		switch {
		case j == len(b.files) || i < len(a.files) && a.files[i].Path < b.files[j].Path:
			out = append(out, a.files[i].Path)
			i++
		case i == len(a.files) || b.files[j].Path < a.files[i].Path:
			out = append(out, b.files[j].Path)
			j++
		default:
			f, g := a.files[i], b.files[j]
			if f != g && (f.Mode != g.Mode || a.committedID(f) != b.committedID(g)) {
				out = append(out, f.Path)
			}
			i, j = i+1, j+1
		}
	}
	return out
}

// committedID returns the id of the content that git has of a file.
func (t *Tree) committedID(f File) string {
	if id, ok := t.committed[f.Path]; ok {
		return id
	}
	return f.ID
}

// OfCommit returns the tree of a commit in the repository that a folder lies in. A revision is a branch, a tag or a
// hash.
//
// The files of a submodule belong to it when the checkout has the submodule checked out. They are taken from the
// submodule's own repository; nothing is fetched.
func OfCommit(ctx context.Context, dir, revision string) (*Tree, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if root, err = filepath.EvalSymlinks(git.RootOf(root)); err != nil {
		return nil, err
	}
	return ofCommit(ctx, root, root, revision)
}

// ofCommit reads a commit with the git files of a folder. Root is the checkout, "" when there is none.
func ofCommit(ctx context.Context, gitDir, root, revision string) (*Tree, error) {
	commit, err := git.OpenCommit(ctx, gitDir, revision)
	if err != nil {
		return nil, err
	}
	entries, err := commit.ListTree(ctx)
	if err != nil {
		return nil, err
	}
	t := &Tree{root: root, gitDir: gitDir, commit: commit.Hash(), isCommit: true, files: make([]File, len(entries))}
	var links, submodules []File
	for i, e := range entries {
		t.files[i] = File(e)
		if e.Mode == "100664" { // of old repositories
			t.files[i].Mode = modeFile
		}
		switch e.Mode {
		case modeLink:
			links = append(links, t.files[i])
		case modeSubmodule:
			submodules = append(submodules, t.files[i])
		}
	}
	if err := t.readLinks(ctx, links); err != nil {
		return nil, err
	}
	if err := t.addSubmodules(ctx, commit, submodules); err != nil {
		return nil, err
	}
	if err := t.readConversions(ctx); err != nil {
		return nil, err
	}
	return t, t.finish(len(t.commit))
}

// maxLinkText bounds the length of the text of a link, in bytes.
const maxLinkText = 4096

// readLinks reads the texts of links from git.
func (t *Tree) readLinks(ctx context.Context, links []File) (err error) {
	t.links = make(map[string]string, len(links))
	r := git.NewBlobReader(ctx, t.gitDir)
	defer func() { err = errors.Join(err, r.Close()) }()
	for _, f := range links {
		if _, known := t.links[f.ID]; known {
			continue
		}
		raw, err := r.Read(f.ID, maxLinkText)
		if err != nil {
			return fmt.Errorf("reading the link %q: %w", f.Path, err)
		}
		t.links[f.ID] = string(raw)
	}
	return nil
}

// addSubmodules adds the files of submodules. One that this checkout does not have leaves its entry alone.
func (t *Tree) addSubmodules(ctx context.Context, commit *git.Commit, submodules []File) error {
	if len(submodules) == 0 {
		return nil
	}
	names, err := commit.SubmoduleNames(ctx)
	if err != nil {
		return err
	}
	_, common, err := git.Folders(ctx, t.gitDir)
	if err != nil {
		return err
	}
	for _, f := range submodules {
		dir, checkout, why := t.findSubmodule(f, names[f.Path], filepath.Join(common, "modules"))
		if dir == "" && why == "" {
			continue
		}
		var inner *Tree
		if dir != "" {
			if inner, err = ofCommit(ctx, dir, checkout, f.ID); err != nil {
				why = err.Error()
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if why != "" {
			t.trouble = fmt.Sprintf("the submodule %q at commit %s cannot be read (run git submodule update "+
				"--init, or fetch in it): %s", f.Path, git.Short(f.ID), why)
			continue
		}
		t.addInner(f.Path, inner)
	}
	return nil
}

// findSubmodule returns the git folder of a submodule, and its checkout if there is one. Without a folder, why says
// what is missing; without a reason the checkout does without submodules, or without this one.
func (t *Tree) findSubmodule(f File, name, modules string) (dir, checkout, why string) {
	at := filepath.Join(t.root, filepath.FromSlash(f.Path))
	if t.root != "" && isInside(t.root, f.Path) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, at, ""
		}
		if info, err := os.Lstat(at); err == nil && info.IsDir() {
			return "", "", "" // it is not checked out
		}
	}
	if entries, err := os.ReadDir(modules); err != nil || len(entries) == 0 {
		return "", "", "" // no submodule ever was
	}
	if name != "" && isInside(modules, name) {
		if info, err := os.Lstat(filepath.Join(modules, filepath.FromSlash(name))); err == nil && info.IsDir() {
			return filepath.Join(modules, filepath.FromSlash(name)), "", ""
		}
	}
	return "", "", "the checkout has other submodules, but not this one"
}

// isInside reports whether a path below a folder stays there, as a text and by all of its links but the last.
func isInside(folder, name string) bool {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return false
	}
	for at := path.Dir(name); at != "."; at = path.Dir(at) {
		if info, err := os.Lstat(filepath.Join(folder, filepath.FromSlash(at))); err == nil && !info.IsDir() {
			return false
		}
	}
	return true
}

// addInner adds the files of a repository that lies in a folder of the tree.
func (t *Tree) addInner(folder string, inner *Tree) {
	t.modules = append(t.modules, module{folder, inner.gitDir, len(inner.edited) > 0})
	for _, m := range inner.modules {
		t.modules = append(t.modules, module{path.Join(folder, m.folder), m.gitDir, m.isDirty})
	}
	for _, f := range inner.files {
		f.Path = folder + "/" + f.Path
		t.files = append(t.files, f)
	}
	for id, text := range inner.links {
		t.links[id] = text
	}
	for name := range inner.onDisk {
		t.onDisk[folder+"/"+name] = true
	}
	for name, id := range inner.committed {
		t.committed[folder+"/"+name] = id
	}
	if t.trouble == "" {
		t.trouble = inner.trouble
	}
	if t.conversions == "" {
		t.conversions = inner.conversions
	}
}

// maxBehind bounds how many paths are listed that lead through links.
const maxBehind = 200_000

// Behind returns, for each file and link to which a link of the tree leads, the other paths that
// lead there: that of the link, or one through a link to a folder. So a program that is named by
// a link is found by the file that is edited. ok is false when there are more than can be listed.
func (t *Tree) Behind() (paths map[string][]string, ok bool) {
	paths = map[string][]string{}
	left := maxBehind
	var follow func(path string, depth int)
	add := func(target, path string) {
		if target != path && !slices.Contains(paths[target], path) {
			paths[target] = append(paths[target], path)
			left--
		}
	}
	follow = func(path string, depth int) {
		steps := t.Resolve(path)
		end := steps[len(steps)-1]
		for _, s := range steps[:len(steps)-1] {
			add(s.Path, path)
		}
		if end.Kind == Regular {
			add(end.Path, path)
		}
		switch {
		case depth > maxLinks, end.Kind != Folder && end.Kind != Submodule:
			return
		case end.Path == ".": // a link to the root leads to everything, by its own name as well
			return
		}
		prefix := end.Path + "/"
		for i := t.find(prefix); i < len(t.files) && strings.HasPrefix(t.files[i].Path, prefix) && left > 0; i++ {
			virtual := path + "/" + t.files[i].Path[len(prefix):]
			add(t.files[i].Path, virtual)
			if t.files[i].Mode == modeLink {
				follow(virtual, depth+1)
			}
		}
	}
	for _, f := range t.files {
		if f.Mode == modeLink && left > 0 {
			follow(f.Path, 0)
		}
	}
	return paths, left > 0
}

// IsOnDisk reports whether the checkout has a file of the tree with these bytes and this mode now. Where git may have
// converted the bytes at checkout, a file with other bytes is taken for the same if it was last modified before a time.
func (t *Tree) IsOnDisk(f File, since time.Time) (bool, error) {
	name := filepath.Join(t.root, filepath.FromSlash(f.Path))
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if f.Mode == modeLink {
		text, err := os.Readlink(name)
		return err == nil && text == t.links[f.ID], nil
	}
	if !info.Mode().IsRegular() || info.Mode()&0o100 != 0 != (f.Mode == modeProgram) {
		return false, nil
	}
	if t.isCommit && t.conversions != "" && ChangeTime(info).Before(since) {
		return true, nil
	}
	in, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer in.Close()
	h := newBlobHash(len(f.ID), info.Size())
	if _, err := io.Copy(h, in); err != nil {
		return false, err
	}
	return sumOf(h) == f.ID, nil
}
