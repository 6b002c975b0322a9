package source

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/world"
)

// builtFolders are the names of folders that package managers and compilers make, and in which
// programs look for what they need.
var builtFolders = []string{".venv", "venv", "node_modules", "vendor", "target", "build", "dist"}

// plainPath is a path that can stand in a list of YAML without quotes.
var plainPath = lazyregexp.New(`^[A-Za-z0-9._][A-Za-z0-9._/-]*$`)

// FindBuilt lists the folders of a checkout that git ignores and that programs often need, such as
// .venv, by their paths in the repository. A task on base has them only if the settings say so.
func FindBuilt(ctx context.Context, root string) ([]string, error) {
	ignored, err := world.Ignored(ctx, root)
	var out []string
	for _, name := range ignored {
		name = strings.TrimSuffix(name, "/")
		if !slices.Contains(builtFolders, path.Base(name)) || !plainPath.MatchString(name) {
			continue
		}
		if info, err := os.Stat(filepath.Join(root, filepath.FromSlash(name))); err == nil && info.IsDir() {
			out = append(out, name)
		}
	}
	return out, err
}
