package change

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state/files"
	"github.com/app-sre/prcheck/world"
)

// Worlds are the files of both sides. They are read when they are first asked for. The zero
// value has none.
type Worlds struct {
	Base, Head func() (*world.Tree, error) // nil for a side that has no files, such as that of a bundle
	// Others lists what the checkout of head has besides head's tree: files and folders that git
	// ignores or does not track.
	Others func() ([]string, error)
	// Wrote returns a function that reports whether prcheck itself wrote a file below a root; nil: it wrote none.
	Wrote func(root string) func(path string) bool

	// isWhole says that head's tree has every file of the checkout that git does not ignore and
	// prcheck did not write.
	isWhole bool
}

// HeadWorld returns the files of head as tasks find them.
func (w Worlds) HeadWorld() (*files.World, error) {
	tree, err := w.Head()
	if err != nil {
		return nil, err
	}
	others, err := w.Others()
	return &files.World{Tree: tree, Root: tree.Root(), Others: others}, err
}

// findOthers lists what the checkout of head has besides head's tree, except what prcheck wrote.
func (w Worlds) findOthers(ctx context.Context, own source.Own) ([]string, error) {
	if w.Head == nil {
		return nil, nil
	}
	head, err := w.Head()
	if err != nil {
		return nil, err
	}
	found, err := world.Ignored(ctx, head.Root())
	if err != nil {
		return nil, err
	}
	all := own
	all.Only = nil // a plan names no file that git ignores
	if found = slices.DeleteFunc(found, all.Wrote(head.Root())); w.isWhole {
		return found, nil
	}
	tree, err := world.OfWorkTree(ctx, head.Root(), world.WorkTreeOptions{Leave: own.Wrote(head.Root())})
	if err != nil {
		return nil, err
	}
	for _, name := range tree.Edited() {
		_, _, isNow := tree.Lookup(name)
		_, _, isHead := head.Lookup(name)
		if isNow && !isHead {
			found = append(found, name)
		}
	}
	return found, nil
}

// OpenWorlds returns the files of the sides that two references stand for.
func OpenWorlds(ctx context.Context, open source.Opener, own source.Own, keeper world.Keeper,
	base, head string) Worlds {
	w := Worlds{Base: openSide(ctx, open, own, keeper, base), Head: openSide(ctx, open, own, keeper, head)}
	w.isWhole = strings.HasPrefix(head, "dir:") && own.Only == nil
	w.Wrote = source.Own{Files: own.Files, State: own.State, Cache: own.Cache}.Wrote
	w.Others = sync.OnceValues(func() ([]string, error) { return w.findOthers(ctx, own) })
	return w
}

// openSide returns the files of the side that a reference stands for; nil if it has none.
func openSide(ctx context.Context, open source.Opener, own source.Own, keeper world.Keeper,
	ref string) func() (*world.Tree, error) {
	if !source.IsCheckout(ref) {
		return nil
	}
	return sync.OnceValues(func() (*world.Tree, error) { return open.World(ctx, ref, own, keeper) })
}

// OfPlan returns the worlds with the files that head had when a plan was made. New files that the
// plan does not name do not belong to them. If a file that the plan names is another one now, it is
// an error of the user's making.
func (w Worlds) OfPlan(ctx context.Context, open source.Opener, own source.Own, keeper world.Keeper, head string,
	side plan.Side) Worlds {
	if side.Tree == "" || !strings.HasPrefix(head, "dir:") {
		return w
	}
	of := own // what head's files are found with
	of.Only = map[string]bool{}
	for _, e := range side.Edited {
		of.Only[e.Path] = true
	}
	w.isWhole = false
	w.Head = sync.OnceValues(func() (*world.Tree, error) {
		tree, err := open.World(ctx, head, of, keeper)
		if err == nil && tree.ID() != side.Tree && len(side.Edited) == 0 { // they may be too many to be named
			of = own
			tree, err = open.World(ctx, head, of, keeper)
		}
		if err == nil && tree.ID() != side.Tree {
			err = cli.Invalid(fmt.Errorf("head's files are not those that the plan was made from: %s changed since; plan again",
				differing(tree, side)))
		}
		return tree, err
	})
	w.Others = sync.OnceValues(func() ([]string, error) {
		if _, err := w.Head(); err != nil {
			return nil, err
		}
		return w.findOthers(ctx, of)
	})
	return w
}

// differing names a file of a working tree that a plan knows otherwise.
func differing(tree *world.Tree, side plan.Side) string {
	was := map[string]string{}
	for _, e := range side.Edited {
		was[e.Path] = e.ID
	}
	edited := editedFiles(tree)
	if len(was) == 0 && len(edited) >= plan.MaxEdited {
		return "a file" // the plan had too many to name them
	}
	for _, e := range edited {
		if id, known := was[e.Path]; !known || id != e.ID {
			return strconv.Quote(e.Path)
		}
		delete(was, e.Path)
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		return strconv.Quote(name)
	}
	return "HEAD"
}

// editedFiles returns the files of a working tree that differ from HEAD.
func editedFiles(tree *world.Tree) []plan.EditedFile {
	var out []plan.EditedFile
	for _, name := range tree.Edited() {
		e := plan.EditedFile{Path: name}
		if f, kind, ok := tree.Lookup(name); ok && kind != world.Folder {
			e.ID = f.Mode + " " + f.ID
		}
		out = append(out, e)
	}
	return out
}

// sideFiles names the files of a side as a plan does. Of a commit only the id of its tree is read.
func sideFiles(ctx context.Context, ref string, tree func() (*world.Tree, error)) (planner.SideFiles, error) {
	if _, _, isRevision := source.ParseRevision(ref); isRevision {
		c, err := source.OpenRevision(ctx, ref)
		if err != nil {
			return planner.SideFiles{}, err
		}
		return planner.SideFiles{Tree: c.TreeID()}, nil
	}
	if tree == nil {
		return planner.SideFiles{}, nil
	}
	t, err := tree()
	if err != nil {
		return planner.SideFiles{}, err
	}
	out := planner.SideFiles{Tree: t.ID(), Edited: editedFiles(t)}
	if len(out.Edited) >= plan.MaxEdited {
		out.Edited = nil
	}
	return out, nil
}

// Both returns the files of both sides, which must have some.
func (w Worlds) Both() (base, head *world.Tree, err error) {
	if base, err = w.Base(); err == nil {
		head, err = w.Head()
	}
	return base, head, err
}

// OfCleanCheckout returns the worlds of a checkout that was found to have exactly the files of head's
// commit.
func (w Worlds) OfCleanCheckout(ctx context.Context, own source.Own) Worlds {
	w.isWhole = true
	w.Others = sync.OnceValues(func() ([]string, error) { return w.findOthers(ctx, own) })
	return w
}

// WithBase returns the worlds with another folder as the files of base, unless it is "".
func (w Worlds) WithBase(ctx context.Context, open source.Opener, own source.Own, keeper world.Keeper,
	dir string) Worlds {
	if dir != "" {
		w.Base = openSide(ctx, open, own, keeper, "dir:"+dir)
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

// Programs digests the files that a command may use, as plans do.
func (c *Change) Programs() func(settings.Programs) (string, error) { return c.input.Programs }

// BaseSettings returns the settings as base has them, nil if they are base's already or do not
// lie in the repository. If base has none that can be read, they are empty.
func (c *Change) BaseSettings(ctx context.Context) *settings.Settings {
	return BaseSettings(ctx, c.settings, c.baseRef)
}

// BaseSettings returns the settings as a base has them, see [Change.BaseSettings].
func BaseSettings(ctx context.Context, s source.OpenedSettings, ref string) *settings.Settings {
	_, _, isRevision := source.ParseRevision(ref)
	if s.Revision != nil || s.IsObject || s.File == "" || !isRevision {
		return nil
	}
	path, inside := git.PathIn(source.RootOf(ref), s.File)
	if !inside {
		return nil
	}
	base, err := source.OpenSettings(ctx, settings.FromBase+path, ref)
	if err != nil {
		return &settings.Settings{} // other settings than any
	}
	return base.Settings
}
