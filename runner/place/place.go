package place

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/world"
)

// A Side gives the files of one side of a change; nil when they are not known.
type Side func() (*world.Tree, error)

// Places make the places in which tasks start. The zero value knows no files: all tasks start in
// the current folder.
type Places struct {
	Folder     string // in which tasks start today, in the checkout of head; "" is the current folder
	Base, Head Side
	Keeper     world.Keeper
	// InPlace says that tasks on head start in the checkout itself.
	InPlace bool
	// Shared says that the folder belongs to neither side: it lies in no repository, and no job
	// has made it of head.
	Shared bool
	// Environment are files and folders of the checkout that git ignores and that base has too.
	Environment []string

	base, head keptSide
}

// A keptSide is the folder with the files of a side, made when it is first needed.
type keptSide struct {
	once sync.Once
	kept *world.Kept
	err  error
}

// A Place is where one attempt of a task starts.
type Place struct {
	Folder string // in which it starts, absolute
	// From and Root are the root of the checkout and the folder that stands for it. They are
	// equal when nothing moved.
	From, Root string
	Tree       *world.Tree  // the files at Root; nil when they are not known
	Enter      func() error // see [world.View]; nil when there is nothing to enter

	view *world.View
}

// Close removes the place.
func (p Place) Close() error {
	if p.view == nil {
		return nil
	}
	return p.view.Close()
}

// start returns the folder in which tasks start, and the root of its checkout: that of head's
// files, or the folder itself.
func (p *Places) start() (folder, root string, err error) {
	if folder, err = filepath.Abs(p.Folder); err != nil {
		return "", "", err
	}
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	for _, side := range []Side{p.Head, p.Base} {
		if side == nil {
			continue
		}
		t, err := side()
		if err != nil {
			return "", "", err
		}
		if _, inside := below(t.Root(), folder); inside {
			return folder, t.Root(), nil
		}
	}
	return folder, folder, nil
}

// below returns the path of a folder below a root, and whether it lies there.
func below(root, folder string) (rel string, inside bool) {
	rel, err := filepath.Rel(root, folder)
	return rel, err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// inCheckout returns the place in the checkout itself.
func (p *Places) inCheckout() (Place, error) {
	folder, root, err := p.start()
	if err != nil {
		return Place{}, err
	}
	out := Place{Folder: folder, From: root, Root: root}
	if p.Head != nil {
		out.Tree, err = p.Head()
	}
	return out, err
}

// OnHead makes a place for a task on head. A task that uses no file of the repository starts in
// the checkout itself.
func (p *Places) OnHead(ctx context.Context, usesFiles bool) (Place, error) {
	if p.Head == nil || p.InPlace || !usesFiles {
		return p.inCheckout()
	}
	tree, err := p.Head()
	if err != nil {
		return Place{}, err
	}
	ignored, err := p.ignored(ctx, tree)
	if err != nil {
		return Place{}, err
	}
	return p.view(ctx, &p.head, tree, ignored)
}

// OnBase makes a place for a task on base.
func (p *Places) OnBase(ctx context.Context) (Place, error) {
	if p.Base == nil {
		return p.inCheckout()
	}
	tree, err := p.Base()
	if err != nil {
		return Place{}, err
	}
	return p.view(ctx, &p.base, tree, p.Environment)
}

// KnowsBase reports whether base's files are known.
func (p *Places) KnowsBase() bool { return p.Base != nil }

// ignored lists what git ignores in the checkout and a view of head has as well. A commit that is
// not checked out there has none of it.
func (p *Places) ignored(ctx context.Context, head *world.Tree) ([]string, error) {
	list, err := world.Ignored(ctx, head.Root())
	for i, name := range list {
		list[i] = strings.TrimSuffix(name, "/")
	}
	return list, err
}

// view makes a view of a side.
func (p *Places) view(ctx context.Context, side *keptSide, tree *world.Tree, extras []string) (Place, error) {
	folder, root, err := p.start()
	if err != nil {
		return Place{}, err
	}
	side.once.Do(func() { side.kept, side.err = p.Keeper.Keep(context.WithoutCancel(ctx), tree) })
	if side.err != nil {
		return Place{}, side.err
	}
	var o world.ViewOptions
	for _, name := range extras {
		o.Extras = append(o.Extras, world.Extra{Path: name, From: filepath.Join(root, filepath.FromSlash(name))})
	}
	v, err := side.kept.View(ctx, o)
	if err != nil {
		return Place{}, err
	}
	rel, inside := below(root, folder)
	if !inside {
		return Place{}, errors.Join(fmt.Errorf("%q does not lie in %q", folder, root), v.Close())
	}
	return Place{Folder: filepath.Join(v.Root, rel), From: root, Root: v.Root, Tree: tree, Enter: v.Enter, view: v}, nil
}

// Close gives back the files of both sides. No place may be in use.
func (p *Places) Close() error {
	var errs []error
	for _, side := range []*keptSide{&p.base, &p.head} {
		if side.kept != nil {
			errs = append(errs, side.kept.Close())
		}
	}
	return errors.Join(errs...)
}
