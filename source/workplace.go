package source

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/internal/listing"
)

// A Workplace is the repository in which tasks start, or the folder in which they start when
// it lies in no repository.
type Workplace struct {
	Root string // absolute
	// Own are folders and files in which prcheck writes in this run: the state, caches, logs,
	// results and reports. Files that git tracks are never left out for that.
	Own Own
	// Cache is the folder that remembers the names in folders; "": nothing is remembered.
	Cache string

	isRepository bool
}

// A WorkFile is a file of a workplace.
type WorkFile struct {
	Path string // below the root of the workplace
	ID   string // git's mode and id of its content; "" when it must be read
}

// FindWorkplace finds the workplace of tasks that start in a folder.
func FindWorkplace(ctx context.Context, folder string) (Workplace, error) {
	dir, err := filepath.Abs(folder)
	if err != nil {
		return Workplace{}, err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	root := git.RootOf(dir)
	_, err = Files(root).Lstat(".git")
	w := Workplace{Root: root, isRepository: err == nil}
	if w.isRepository && root != dir && git.Ignores(ctx, root, dir) {
		return Workplace{Root: dir}, ctx.Err() // git knows none of its files
	}
	return w, ctx.Err()
}

// maxWalked bounds how many files a folder that is no repository may have.
const maxWalked = 100_000

// List lists the files of the workplace that a program may use: those that git tracks or does
// not ignore, or all files of a folder that is no repository. It leaves out the files for
// which isData is true, what prcheck wrote, and bundles that git does not track.
func (w Workplace) List(ctx context.Context, isData func(path string) bool) ([]WorkFile, error) {
	want := func(name string) bool { return !isData(name) }
	var files []git.WorkFile
	var err error
	if w.isRepository {
		files, err = git.ListWorkTree(ctx, w.Root, namesBelow(ctx, w.Root, w.Cache), want)
	} else {
		files, err = w.walk(ctx, want)
	}
	if err != nil {
		return nil, err
	}
	own := w.Own.below(w.Root)
	var out []WorkFile
	for _, f := range files {
		if f.Tracked || !own.wrote(f.Path) {
			out = append(out, WorkFile{f.Path, f.ID})
		}
	}
	return out, ctx.Err()
}

// namesBelow returns a function that lists the names of all files below a folder, nil when
// there is no cache folder: then git finds new files sooner.
func namesBelow(ctx context.Context, root, cache string) func() ([]string, error) {
	if cache == "" {
		return nil
	}
	return func() ([]string, error) {
		found, err := listing.List(ctx, root, openCache(cache))
		names := make([]string, 0, len(found))
		for _, e := range found {
			names = append(names, e.Name)
		}
		return names, err
	}
}

// walk lists all files of a folder that is no repository, except those in caches.
func (w Workplace) walk(ctx context.Context, want func(path string) bool) ([]git.WorkFile, error) {
	var out []git.WorkFile
	err := fs.WalkDir(Files(w.Root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && w.isCache(name):
			return fs.SkipDir
		case d.IsDir() || !want(name):
			return ctx.Err()
		case len(out) == maxWalked:
			return errors.New("the folder in which tasks start has more than 100,000 files: name the programs in the settings (programs)")
		}
		out = append(out, git.WorkFile{Path: name})
		return nil
	})
	return out, err
}

// cacheTag begins the file CACHEDIR.TAG, with which a program says that a folder is its cache;
// see https://bford.info/cachedir.
const cacheTag = "Signature: 8a477f597d28d172789f06886806bc55"

// isCache reports whether a folder below the workplace is a cache of some program.
func (w Workplace) isCache(folder string) bool {
	tag := path.Join(folder, "CACHEDIR.TAG")
	info, err := Files(w.Root).Lstat(tag)
	if folder == "." || err != nil || !info.Mode().IsRegular() {
		return false
	}
	start, err := readBelow(w.Root, tag, int64(len(cacheTag)))
	return err == nil && strings.HasPrefix(string(start), cacheTag)
}
