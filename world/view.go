package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// A ViewKind says how a task gets a world of its own.
type ViewKind int

// The kinds of views. Automatic takes the first that works here.
const (
	Automatic ViewKind = iota
	Overlay            // what the task writes lies over the kept files; the world is at the path of the checkout
	Links              // hard links of the kept files, which can be replaced, but not written
	Copies             // copies that can be written
)

func (k ViewKind) String() string { return [...]string{"automatic", "overlay", "links", "copies"}[k] }

// ViewOptions are options of [Kept.View].
type ViewOptions struct {
	Kind   ViewKind // Automatic, unless a test wants another one
	Extras []Extra  // what the world has besides the files of the tree
}

// An Extra is a file or a folder of the checkout that git ignores, such as a virtual environment. It is not copied: a
// world and the checkout share it. It never replaces anything of the tree.
type Extra struct {
	Path string // in the world
	From string // absolute
}

// A View is the world of one task.
type View struct {
	Root string // where the task finds the world
	Kind ViewKind
	// Enter makes the world visible to processes that the calling thread starts afterwards. It is nil when the world is
	// an ordinary folder. It is called by a goroutine that has locked its thread and never unlocks it, so that the
	// thread ends with it. After an error the thread must not start anything either.
	Enter func() error

	dir  string
	lock *os.File
	kept *Kept
}

// View makes a world for one task. The kept tree must stay open until the view is closed.
func (k *Kept) View(ctx context.Context, o ViewOptions) (*View, error) {
	dir, lock, err := k.keeper.newFolder("views", "view-*")
	if err != nil {
		return nil, fmt.Errorf("making a view of %s: %w", k.tree.name(), err)
	}
	v := &View{Kind: o.Kind, dir: dir, lock: lock, kept: k}
	if o.Kind == Automatic {
		v.Kind = k.Kind()
	}
	if err := v.prepare(ctx, o.Extras); err != nil {
		return nil, errors.Join(fmt.Errorf("making a view of %s: %w", k.tree.name(), err), v.remove())
	}
	return v, nil
}

// prepare makes the world, or all that its overlay needs.
func (v *View) prepare(ctx context.Context, extras []Extra) error {
	extras, err := v.kept.tree.usable(extras)
	if err != nil {
		return err
	}
	if v.Kind == Overlay {
		return v.prepareOverlay(ctx, extras)
	}
	v.Root = v.ownRoot()
	if err := os.MkdirAll(filepath.Dir(v.Root), 0o700); err != nil {
		return err
	}
	if err := v.fill(ctx); err != nil {
		return err
	}
	if v.Kind == Copies {
		if err := v.kept.check(); err != nil { // a task with links may have changed what was copied
			return err
		}
	}
	for _, e := range extras {
		if err := v.linkExtra(e); err != nil {
			return err
		}
	}
	return v.kept.putGit(ctx, v.Root, "")
}

// Kind returns the kind of an automatic view: the first that works here.
func (k *Kept) Kind() ViewKind {
	switch {
	case k.canOverlay():
		return Overlay
	case hasLocks && os.Geteuid() != 0:
		return Links
	}
	return Copies
}

// ownRoot returns the root of a world that lies in the folder of the view. Its last name is that of the checkout.
func (v *View) ownRoot() string {
	name := filepath.Base(v.kept.tree.root)
	if name == string(filepath.Separator) || name == "." {
		name = "root"
	}
	return filepath.Join(v.dir, "world", name)
}

// Close removes the world with all that the task wrote. For links, it then checks that the task did not change the kept
// files; if it did, no other world uses them from now on.
func (v *View) Close() error {
	err := v.remove()
	if v.Kind == Links {
		err = errors.Join(err, v.kept.check())
	}
	return err
}

// check says whether somebody changed the kept files. If so, no other world uses them from now on.
func (k *Kept) check() error {
	err := k.manifest.check(k.Folder())
	if err != nil {
		_ = os.Remove(filepath.Join(k.dir, "manifest"))
		err = fmt.Errorf("a task changed files that worlds share: %w", err)
	}
	return err
}

func (v *View) remove() error {
	removeAll(v.dir)
	_, err := os.Lstat(v.dir)
	if err == nil {
		err = fmt.Errorf("the folder %q could not be removed", v.dir)
	} else {
		err = nil
	}
	return errors.Join(err, v.lock.Close())
}

// fill makes the files of the world.
func (v *View) fill(ctx context.Context) error {
	for _, f := range v.kept.manifest.folders {
		name := filepath.Join(v.Root, filepath.FromSlash(f.path))
		if err := os.Mkdir(name, keptFolder); err != nil {
			return err
		}
		if err := os.Chmod(name, keptFolder); err != nil {
			return err
		}
	}
	from := v.kept.Folder()
	for _, e := range v.kept.manifest.entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.Mode == modeSubmodule {
			continue
		}
		old, name := from+"/"+e.Path, v.Root+"/"+e.Path
		if v.Kind == Links && e.Mode != modeLink && os.Link(old, name) == nil {
			continue
		}
		if err := copyKept(old, name, e.Mode); err != nil {
			return err
		}
	}
	return nil
}

// maxRead is how much of a file is copied without the system's help.
const maxRead = 64 << 10

// copyKept copies a file, or makes the same link.
func copyKept(old, name, mode string) error {
	if mode == modeLink {
		text, err := os.Readlink(old)
		if err != nil {
			return err
		}
		return os.Symlink(text, name)
	}
	perm := fs.FileMode(0o644)
	if mode == modeProgram {
		perm = 0o755
	}
	in, err := os.Open(old)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxRead))
	if err == nil {
		_, err = out.Write(raw)
	}
	if err == nil && len(raw) == maxRead {
		_, err = io.Copy(out, in) // the system copies large files, where it can
	}
	return errors.Join(err, out.Close())
}

// usable returns the extras that are there and do not replace anything of the tree.
func (t *Tree) usable(extras []Extra) ([]Extra, error) {
	var out []Extra
	for _, e := range extras {
		e.Path = path.Clean(strings.TrimSuffix(e.Path, "/"))
		if !filepath.IsLocal(filepath.FromSlash(e.Path)) || e.Path == "." || !filepath.IsAbs(e.From) ||
			strings.EqualFold(strings.SplitN(e.Path, "/", 2)[0], ".git") {
			return nil, fmt.Errorf("%q from %q cannot be a part of a world: name a path below its root, and an "+
				"absolute one to take it from", e.Path, e.From)
		}
		if _, err := os.Lstat(e.From); err == nil && !t.occupies(e.Path) {
			out = append(out, e)
		}
	}
	return out, nil
}

// occupies reports whether the tree has something at a path, or has no folder where the path needs one.
func (t *Tree) occupies(name string) bool {
	if _, _, ok := t.Lookup(name); ok {
		return true
	}
	for at := path.Dir(name); at != "."; at = path.Dir(at) {
		if _, kind, ok := t.Lookup(at); ok && kind != Folder {
			return true
		}
	}
	return false
}

// linkExtra makes a symbolic link to an extra.
func (v *View) linkExtra(e Extra) error {
	name := filepath.Join(v.Root, filepath.FromSlash(e.Path))
	if err := os.MkdirAll(filepath.Dir(name), keptFolder); err != nil {
		return err
	}
	if err := os.Symlink(e.From, name); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
