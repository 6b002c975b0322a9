package world

import (
	"slices"
	"sort"
	"strings"
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
