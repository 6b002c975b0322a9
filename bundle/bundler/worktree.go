package bundler

import (
	"context"
	"path"

	"github.com/app-sre/prcheck/internal/git"
)

// A WorkTree is the tree of a folder whose files are known to git, so that a cache
// can tell the content of most files without reading them.
type WorkTree struct {
	Folder
	blobs map[string]string // git's ids by path in the tree
}

// OpenWorkTree asks git which files of a folder it knows. When git knows nothing, the
// tree is that of the plain folder.
func OpenWorkTree(ctx context.Context, dir string) *WorkTree {
	blobs, err := git.UnchangedFiles(ctx, dir)
	if err != nil {
		blobs = nil
	}
	return &WorkTree{Folder(dir), blobs}
}

// List returns the entries of a folder, with git's ids where they are known.
func (w *WorkTree) List(ctx context.Context, dir string) ([]Entry, error) {
	entries, err := w.Folder.List(ctx, dir)
	for i, e := range entries {
		if e.Kind == Regular {
			entries[i].Blob = w.blobs[path.Clean(e.Path)]
		}
	}
	return entries, err
}
