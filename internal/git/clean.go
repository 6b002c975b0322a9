package git

import (
	"context"
	"path"
	"slices"
	"strings"
)

// IsClean reports whether folders and files of the working tree are as they are committed: nothing is modified, and
// nothing is new that git does not ignore. Names is as for [ListWorkTree], and may be nil.
func (r *Repository) IsClean(ctx context.Context, names func() ([]string, error), paths ...string) (bool, error) {
	index, err := readEntries(ctx, r.root)
	if err != nil {
		return false, err
	}
	if names == nil || slices.ContainsFunc(index, indexEntry.isSubmodule) { // a submodule has new files of its own
		return r.hasNoStatus(ctx, "normal", paths)
	}
	if clean, err := r.hasNoStatus(ctx, "no", paths); err != nil || !clean {
		return false, err
	}
	others, err := listOthers(ctx, r.root, index, names)
	if err != nil || !slices.ContainsFunc(others, func(name string) bool { return touches(name, paths) }) {
		return err == nil, err
	}
	return r.hasNoStatus(ctx, "normal", paths)
}

// hasNoStatus reports whether git status says nothing of the paths.
func (r *Repository) hasNoStatus(ctx context.Context, untracked string, paths []string) (bool, error) {
	args := append([]string{"status", "--porcelain=v1", "--untracked-files=" + untracked, "--ignore-submodules=none", "--"}, paths...)
	out, err := run(ctx, r.root, args...)
	return len(out) == 0 && err == nil, err
}

// touches reports whether a file, or a repository with a slash at the end of its name, lies at, below or around one of
// the paths.
func touches(name string, paths []string) bool {
	return len(paths) == 0 || slices.ContainsFunc(paths, func(p string) bool {
		p = path.Clean(p)
		return p == "." || name == p || strings.HasPrefix(name, p+"/") || strings.HasSuffix(name, "/") && strings.HasPrefix(p+"/", name)
	})
}
