package world

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxFiles bounds how many files a folder without git may have.
const maxFiles = 100_000

// cacheTag begins the file CACHEDIR.TAG, with which a program says that a folder is its cache; see
// https://bford.info/cachedir.
const cacheTag = "Signature: 8a477f597d28d172789f06886806bc55"

// OfFolder returns the tree of a folder without git: all of its files and links, but those in caches.
func OfFolder(ctx context.Context, dir string, o WorkTreeOptions) (*Tree, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	r := &workReader{options: o, root: root, digits: 64}
	r.tree = &Tree{root: root, links: map[string]string{}, onDisk: map[string]bool{}, committed: map[string]string{}}
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		below, err := filepath.Rel(root, name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && below != "." && isCache(name):
			return fs.SkipDir
		case d.IsDir():
			return nil
		case len(r.tree.files) == maxFiles:
			return errors.New("the folder has more than 100,000 files: name a smaller one, or put it under git")
		}
		return r.addOther(ctx, filepath.ToSlash(below))
	})
	if err != nil {
		return nil, err
	}
	err = r.tree.finish(r.digits)
	r.tree.id = "sha256:" + r.tree.id
	r.tree.edited = nil
	return r.tree, err
}

// isCache reports whether a folder is the cache of some program.
func isCache(folder string) bool {
	name := filepath.Join(folder, "CACHEDIR.TAG")
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, len(cacheTag))
	n, _ := f.Read(start)
	return strings.HasPrefix(string(start[:n]), cacheTag)
}
