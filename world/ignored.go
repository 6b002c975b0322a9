package world

import (
	"context"
	"path"
	"strings"

	"github.com/app-sre/prcheck/internal/git"
)

// Ignored lists the files and folders of a working tree that git ignores; a folder has a slash at its end, and what lies
// in it is not listed. What Python makes of its modules is left out.
func Ignored(ctx context.Context, root string) ([]string, error) {
	all, err := git.ListIgnored(ctx, root)
	var out []string
	for _, name := range all {
		if path.Base(name) != "__pycache__" && !strings.HasSuffix(name, ".pyc") {
			out = append(out, name)
		}
	}
	return out, err
}
