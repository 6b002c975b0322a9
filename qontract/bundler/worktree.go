package bundler

import (
	"context"

	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/internal/listing"
)

// A WorkTree is the tree of a folder whose files are known to git, so that a cache
// can tell the content of most files without reading them.
type WorkTree struct {
	Folder
	blobs  map[string]string // git's ids by path in the tree
	memory listing.Memory    // nil without a cache
}

// OpenWorkTree asks git which files of a folder it knows. When git knows nothing, the
// tree is that of the plain folder. The cache remembers the names in the folder; it may be
// nil.
func OpenWorkTree(ctx context.Context, dir string, cache *Cache) *WorkTree {
	blobs, err := git.UnchangedFiles(ctx, dir)
	if err != nil {
		blobs = nil
	}
	w := &WorkTree{Folder: Folder(dir), blobs: blobs}
	if cache != nil {
		w.memory = cache
	}
	return w
}

// List returns the entries of a folder, with git's ids where they are known.
func (w *WorkTree) List(ctx context.Context, dir string) ([]Entry, error) {
	entries, err := w.list(ctx, dir, w.memory)
	for i, e := range entries {
		if e.Kind == Regular {
			entries[i].Blob = w.blobs[e.Path]
		}
	}
	return entries, err
}
