package source

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
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

	isRepository bool
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

// IsRepository reports whether the workplace is a repository. Its files are then those of
// [Opener.World].
func (w Workplace) IsRepository() bool { return w.isRepository }

// List lists the files of a workplace that is no repository: all files of the folder, except those
// in caches, what prcheck wrote, and bundles.
func (w Workplace) List(ctx context.Context) ([]string, error) {
	files, err := w.walk(ctx)
	if err != nil {
		return nil, err
	}
	own := w.Own.below(w.Root)
	return slices.DeleteFunc(files, own.wrote), ctx.Err()
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
func (w Workplace) walk(ctx context.Context) ([]string, error) {
	var out []string
	err := fs.WalkDir(Files(w.Root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && w.isCache(name):
			return fs.SkipDir
		case d.IsDir():
			return ctx.Err()
		case len(out) == maxWalked:
			return errors.New("the folder in which tasks start has more than 100,000 files: name the programs in the settings " +
				"(programs)")
		}
		out = append(out, name)
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
