package change

import (
	"context"
	"sync"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/world"
)

// Worlds are the files of both sides. They are read when they are first asked for. The zero
// value has none.
type Worlds struct {
	Base, Head func() (*world.Tree, error) // nil for a side that has no files, such as that of a bundle
}

// OpenWorlds returns the files of the sides that two references stand for.
func OpenWorlds(ctx context.Context, open source.Opener, own source.Own, keeper world.Keeper, base, head string) Worlds {
	side := func(ref string) func() (*world.Tree, error) {
		if !source.IsCheckout(ref) {
			return nil
		}
		return sync.OnceValues(func() (*world.Tree, error) { return open.World(ctx, ref, own, keeper) })
	}
	return Worlds{Base: side(base), Head: side(head)}
}

// Both returns the files of both sides, which must have some.
func (w Worlds) Both() (base, head *world.Tree, err error) {
	if base, err = w.Base(); err == nil {
		head, err = w.Head()
	}
	return base, head, err
}

// behind returns, for each file of either side, the paths that lead to it through links. ok is
// false when they are too many to be known.
func (w Worlds) behind() (paths map[string][]string, ok bool, err error) {
	base, head, err := w.Both()
	if err != nil {
		return nil, false, err
	}
	paths, ok = base.Behind()
	more, isWhole := head.Behind()
	for target, list := range more {
		paths[target] = append(paths[target], list...)
	}
	return paths, ok && isWhole, nil
}

// WithBase returns the worlds with another folder as the files of base, unless it is "".
func (w Worlds) WithBase(ctx context.Context, open source.Opener, own source.Own, keeper world.Keeper, dir string) Worlds {
	if dir != "" {
		w.Base = OpenWorlds(ctx, open, own, keeper, "dir:"+dir, "").Base
	}
	return w
}

// IsCheckedOut reports whether the checkout of head has exactly the tracked files of head.
func (w Worlds) IsCheckedOut(ctx context.Context) (bool, error) {
	head, err := w.Head()
	if err != nil {
		return false, err
	}
	tree, err := world.OfWorkTree(ctx, head.Root(), world.WorkTreeOptions{Leave: func(string) bool { return true }})
	return err == nil && tree.ID() == head.ID(), err
}

// BaseSettings returns the settings as base has them, nil if they are base's already or do not
// lie in the repository. If base has none that can be read, they are empty.
func (c *Change) BaseSettings(ctx context.Context) *integration.Settings {
	return BaseSettings(ctx, c.settings, c.baseRef)
}

// BaseSettings returns the settings as a base has them, see [Change.BaseSettings].
func BaseSettings(ctx context.Context, s source.Settings, ref string) *integration.Settings {
	_, _, isRevision := source.ParseRevision(ref)
	if s.Revision != nil || s.IsObject || s.File == "" || !isRevision {
		return nil
	}
	path, inside := git.PathIn(source.RootOf(ref), s.File)
	if !inside {
		return nil
	}
	base, err := source.OpenSettings(ctx, integration.FromBase+path, ref)
	if err != nil {
		return &integration.Settings{} // other settings than any
	}
	return base.Settings
}
