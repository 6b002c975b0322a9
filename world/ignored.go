package world

import (
	"context"
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
