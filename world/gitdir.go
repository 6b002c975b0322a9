package world

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/app-sre/prcheck/internal/git"
)

// A gitFolder is what the git folders of all views of a kept tree have in common. It is read when the first view is
// made.
type gitFolder struct {
	once sync.Once
	git.OwnFolder
	index string // name of the index
	err   error
}

// A gitLayer is a folder with the git folder of the views at the path of the checkout.
type gitLayer struct {
	once sync.Once
	dir  string
	lock *os.File
	err  error
}

// close removes the folder.
func (l *gitLayer) close() error {
	if l.dir == "" {
		return nil
	}
	removeAll(l.dir)
	return l.lock.Close()
}

// readGit reads what the git folders of the views have in common.
func (k *Kept) readGit(ctx context.Context) error {
	k.git.once.Do(func() {
		if k.git.OwnFolder, k.git.err = git.ReadOwnFolder(ctx, k.tree.gitDir, k.tree.commit); k.git.err == nil {
			k.git.index, k.git.err = k.writeIndex(ctx)
		}
	})
	return k.git.err
}

// writeIndex makes an index with the files of the commit, unless the kept tree has one, and returns its name.
func (k *Kept) writeIndex(ctx context.Context) (string, error) {
	name := filepath.Join(k.dir, indexName(k.tree.commit))
	if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() {
		return name, nil
	}
	dir, err := os.MkdirTemp(k.dir, "new-*")
	if err != nil {
		return "", err
	}
	defer removeAll(dir)
	fresh := filepath.Join(dir, "index")
	if err := git.WriteIndex(ctx, k.tree.gitDir, k.tree.commit, fresh); err != nil {
		return "", err
	}
	if _, err := os.Lstat(fresh); errors.Is(err, fs.ErrNotExist) { // a commit without files
		return "", nil
	}
	return name, os.Rename(fresh, name)
}

// indexName returns the name of the file in a kept tree's folder that is an index of a commit.
func indexName(commit string) string { return "index-" + commit }

// hasGit reports whether views have a git folder.
func (t *Tree) hasGit() bool { return t.gitDir != "" && t.commit != "" }

// putGit gives a world a git folder of its own: its HEAD, refs, index and settings are copies, and it finds the objects
// of the repository, but nothing is ever written there. Objects is where the world finds them, "" for their own place.
func (k *Kept) putGit(ctx context.Context, world, objects string) error {
	if !k.tree.hasGit() {
		return nil
	}
	if err := k.readGit(ctx); err != nil {
		return err
	}
	if objects == "" {
		objects = k.git.Objects
	}
	dir := filepath.Join(world, ".git")
	for _, name := range []string{"", "refs", "info", "objects", "objects/info", "objects/pack"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "objects", "info", "alternates"),
		[]byte(objects+"\n"), 0o644); err != nil {
		return err
	}
	for name, raw := range k.git.Files {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), raw, 0o644); err != nil {
			return err
		}
	}
	if k.git.index == "" {
		return nil
	}
	return copyKept(k.git.index, filepath.Join(dir, "index"), modeFile)
}
