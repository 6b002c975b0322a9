package source

import (
	"context"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/world"
)

// World returns the files of the side that a reference to a checkout stands for; nil for any
// other reference. Files that prcheck writes itself do not belong to a working tree. The keeper
// takes the bytes of files that git does not have; the zero Keeper takes none. All errors are
// of the user's making.
func (o Opener) World(ctx context.Context, ref string, own Own, keeper world.Keeper) (*world.Tree, error) {
	if !IsCheckout(ref) {
		return nil, nil //nolint:nilnil // a bundle has no files, as documented
	}
	var t *world.Tree
	var err error
	if dir, isFolder := strings.CutPrefix(ref, "dir:"); isFolder {
		t, err = o.folderWorld(ctx, dir, own, keeper)
	} else {
		revision, dir, _ := ParseRevision(ref)
		t, err = world.OfCommit(ctx, dir, revision)
	}
	if err != nil && ctx.Err() == nil {
		err = cli.Invalid(fmt.Errorf("reference %q: %w", ref, err))
	}
	return t, err
}

// folderWorld returns the files of the working tree that a folder belongs to, or those of the
// folder itself when git knows none of them.
func (o Opener) folderWorld(ctx context.Context, dir string, own Own, keeper world.Keeper) (*world.Tree, error) {
	at, err := FindWorkplace(ctx, dir)
	if err != nil {
		return nil, err
	}
	wrote := own.below(at.Root).wrote
	options := world.WorkTreeOptions{Leave: wrote, Names: namesBelow(ctx, at.Root, o.Cache), Keeper: keeper}
	if at.isRepository {
		return world.OfWorkTree(ctx, at.Root, options)
	}
	return world.OfFolder(ctx, at.Root, options)
}
