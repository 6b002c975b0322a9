package world

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/git"
)

// Ignored lists the files and folders of a working tree that git ignores; a folder has a slash at its end, and what
// lies in it is not listed. What Python makes of its modules is left out.
func Ignored(ctx context.Context, root string) ([]string, error) {
	all, err := git.ListIgnored(ctx, root)
	slices.Sort(all)
	var out []string
	folder := "" // the last one
	for _, name := range all {
		if folder != "" && strings.HasPrefix(name, folder) {
			continue
		}
		if strings.HasSuffix(name, "/") {
			folder = name
		}
		if path.Base(name) != "__pycache__" && !strings.HasSuffix(name, ".pyc") {
			out = append(out, name)
		}
	}
	return out, err
}

// Ignored returns those of some paths that git would ignore if a file or a folder lay there: none if the files are not
// those of a repository.
func (k *Kept) Ignored(ctx context.Context, paths []string) ([]string, error) {
	if k.tree.gitDir == "" {
		return nil, nil
	}
	asked := map[string]string{} // by the path without links on the way
	for _, p := range paths {
		steps := k.tree.Resolve(p)
		if end := steps[len(steps)-1]; end.Kind != Outside && end.Kind != Loop {
			asked[end.Path] = p
		}
	}
	found, err := git.ListIgnoredPaths(ctx, k.tree.gitDir, k.Folder(), slices.Sorted(maps.Keys(asked)))
	for i, name := range found {
		found[i] = asked[name]
	}
	slices.Sort(found)
	return found, err
}
