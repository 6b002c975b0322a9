package source

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
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

// A behind is what is remembered of the links of a tree.
type behind struct {
	Whole bool
	Paths map[string][]string
}

// Behind returns what [world.Tree.Behind] does. Of a tree of a commit with this id it is remembered
// in the cache. "" is the id of no tree.
func (o Opener) Behind(id string, open func() (*world.Tree, error)) (paths map[string][]string, ok bool, err error) {
	if id == "" || open == nil {
		return nil, true, nil
	}
	key := "links-1-" + id
	var known behind
	if raw, ok := openCache(o.Cache).Recall(key); ok && json.Unmarshal(raw, &known) == nil {
		return known.Paths, known.Whole, nil
	}
	tree, err := open()
	if err != nil {
		return nil, false, err
	}
	known.Paths, known.Whole = tree.Behind()
	if raw, err := json.Marshal(known); err == nil && o.Cache != "" && isPlain(tree, known.Paths) {
		openCache(o.Cache).Remember(key, raw)
	}
	return known.Paths, known.Whole, nil
}

// isPlain reports whether the links of a tree follow from its id, and can be written as JSON: it has
// no submodules, and all names are text.
func isPlain(t *world.Tree, paths map[string][]string) bool {
	hasModule := slices.ContainsFunc(t.Files(), func(f world.File) bool { return f.Kind() == world.Submodule })
	for target, list := range paths {
		for _, p := range append([]string{target}, list...) {
			if !utf8.ValidString(p) {
				return false
			}
		}
	}
	return !hasModule
}

// HasFiles reports which paths of the repository of a reference are files or links. Of a working
// tree any may be one.
func (o Opener) HasFiles(ctx context.Context, ref string, paths []string) ([]bool, error) {
	revision, dir, isRevision := ParseRevision(ref)
	if !isRevision {
		return slices.Repeat([]bool{true}, len(paths)), nil
	}
	c, err := git.OpenCommit(ctx, dir, revision)
	if err != nil {
		return nil, err
	}
	return c.HasFiles(ctx, paths)
}
