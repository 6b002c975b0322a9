package world

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/app-sre/prcheck/internal/git"
)

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
