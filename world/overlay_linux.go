package world

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sync/errgroup"
)

// An overlayProbe remembers whether overlays work here.
type overlayProbe struct {
	once  sync.Once
	works bool
}

// canOverlay reports whether views can be overlays: it mounts one and looks, on a thread that then ends.
func (k *Kept) canOverlay() bool {
	k.overlay.once.Do(func() { k.overlay.works = os.Geteuid() == 0 && k.keeper.tryOverlay() == nil })
	return k.overlay.works
}

// tryOverlay mounts an overlay in the keeper's folder, and writes through it.
func (k Keeper) tryOverlay() error {
	dir, lock, err := k.newFolder("", "new-*")
	if err != nil {
		return err
	}
	defer lock.Close()
	defer removeAll(dir)
	for _, name := range []string{"lower", "upper", "upper/bound", "work", "merged"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "lower", "kept"), nil, keptFile); err != nil {
		return err
	}
	o := overlayMount{dir: dir, lower: "lower", upper: "upper", work: "work", at: filepath.Join(dir, "merged")}
	o.binds = []bindMount{{filepath.Join(dir, "lower"), filepath.Join(o.at, "bound"), true}}
	var g errgroup.Group
	g.Go(func() error {
		runtime.LockOSThread() // and never unlock: the thread ends with this function
		if err := o.enter(); err != nil {
			return err
		}
		if os.WriteFile(filepath.Join(o.at, "bound", "new"), nil, keptFile) == nil {
			return errors.New("a mount that must not be written was written")
		}
		return os.Rename(filepath.Join(o.at, "kept"), filepath.Join(o.at, "moved"))
	})
	if err := g.Wait(); err != nil {
		return err
	}
	_, kept := os.Lstat(filepath.Join(dir, "lower", "kept"))
	_, moved := os.Lstat(filepath.Join(dir, "upper", "moved"))
	return errors.Join(kept, moved)
}

// An overlayMount is an overlay for the processes that one thread starts.
type overlayMount struct {
	dir                string // absolute; the next three are relative to it, so that nothing in them needs escaping
	lower, upper, work string
	at                 string
	binds              []bindMount
}

// A bindMount shows a file or folder of the old namespace at another place.
type bindMount struct {
	from, to   string
	isReadOnly bool
}

// openPath is the flag with which a file is opened only to be named.
const openPath = 0x200000

// enter gives the thread a namespace of its own, and mounts the overlay in it.
func (o overlayMount) enter() error {
	old, _ := os.Getwd()
	if err := syscall.Unshare(syscall.CLONE_NEWNS); err != nil {
		return fmt.Errorf("making a namespace: %w", err)
	}
	if err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making the mounts of the namespace private: %w", err)
	}
	sources := make([]int, len(o.binds))
	for i, b := range o.binds { // before the overlay hides them
		fd, err := syscall.Open(b.from, openPath|syscall.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("opening %q: %w", b.from, err)
		}
		defer syscall.Close(fd) //nolint:errcheck // nothing was written
		sources[i] = fd
	}
	if err := syscall.Chdir(o.dir); err != nil { // of this thread alone, since it has a namespace
		return err
	}
	options := "lowerdir=" + o.lower + ",upperdir=" + o.upper + ",workdir=" + o.work + ",redirect_dir=on,index=off"
	if err := syscall.Mount("overlay", o.at, "overlay", 0, options); err != nil {
		return fmt.Errorf("mounting an overlay: %w", err)
	}
	for i, b := range o.binds {
		if err := bind(sources[i], b); err != nil {
			return fmt.Errorf("mounting %q: %w", b.from, err)
		}
	}
	if syscall.Chdir(old) != nil { // the world may not have the folder
		return syscall.Chdir(o.at)
	}
	return nil
}

// bind mounts an open file or folder.
func bind(fd int, b bindMount) error {
	if err := syscall.Mount(fmt.Sprintf("/proc/self/fd/%d", fd), b.to, "",
		syscall.MS_BIND|syscall.MS_REC, ""); err != nil {
		return err
	}
	if !b.isReadOnly {
		return nil
	}
	return syscall.Mount("none", b.to, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
}

// prepareOverlay prepares a view that is an overlay at the path of the checkout, or in the folder of the view when this
// machine has no such path.
func (v *View) prepareOverlay(ctx context.Context, extras []Extra) error {
	v.Root = v.kept.tree.root
	if info, err := os.Lstat(v.Root); err != nil || !info.IsDir() || v.Root == "/" {
		v.Root = v.ownRoot()
		if err := os.MkdirAll(v.Root, keptFolder); err != nil {
			return err
		}
	}
	upper := filepath.Join(v.dir, "upper")
	for _, name := range []string{upper, filepath.Join(v.dir, "work")} {
		if err := os.Mkdir(name, keptFolder); err != nil {
			return err
		}
	}
	if err := os.Chmod(upper, keptFolder); err != nil { // the root of the world has its mode
		return err
	}
	o := overlayMount{dir: v.kept.keeper.Dir, at: v.Root}
	var err error
	for to, from := range map[*string]string{&o.lower: v.kept.Folder(), &o.upper: upper,
		&o.work: filepath.Join(v.dir, "work")} {
		if *to, err = filepath.Rel(o.dir, from); err != nil {
			return err
		}
	}
	if err := v.bindGit(ctx, upper, &o); err != nil {
		return err
	}
	for _, e := range extras {
		if err := v.bindExtra(upper, e, &o); err != nil {
			return err
		}
	}
	v.Enter = o.enter
	return nil
}

// bindGit gives the world a git folder. The overlay hides the repository's own, so its objects are shown in the new
// one, where nobody can change them. Views at the path of the checkout share a git folder, as a second layer below what
// each of them writes.
func (v *View) bindGit(ctx context.Context, upper string, o *overlayMount) error {
	if !v.kept.tree.hasGit() {
		return nil
	}
	if v.Root == v.kept.tree.root {
		layer, err := v.kept.gitLayer(ctx, v.Root)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(o.dir, layer)
		if err != nil {
			return err
		}
		o.lower = rel + ":" + o.lower
	} else if err := v.kept.putAlternate(ctx, upper, v.Root); err != nil {
		return err
	}
	o.binds = append(o.binds, bindMount{v.kept.git.Objects, alternateIn(v.Root), true})
	return nil
}

// alternateIn returns where a world shows the objects of the repository.
func alternateIn(root string) string { return filepath.Join(root, ".git", "alternate") }

// gitLayer returns a folder that has nothing but the git folder of worlds at a path. It is made once.
func (k *Kept) gitLayer(ctx context.Context, root string) (string, error) {
	k.layer.once.Do(func() {
		l := &k.layer
		if l.dir, l.lock, l.err = k.keeper.newFolder("views", "git-*"); l.err != nil {
			return
		}
		if l.err = os.Mkdir(filepath.Join(l.dir, "files"), keptFolder); l.err == nil {
			l.err = k.putAlternate(context.WithoutCancel(ctx), filepath.Join(l.dir, "files"), root)
		}
	})
	return filepath.Join(k.layer.dir, "files"), k.layer.err
}

// putAlternate makes a git folder in a folder, for worlds at a path. They find the objects of the repository in it.
func (k *Kept) putAlternate(ctx context.Context, folder, root string) error {
	if err := k.putGit(ctx, folder, alternateIn(root)); err != nil {
		return err
	}
	return os.Mkdir(alternateIn(folder), keptFolder)
}

// bindExtra shows an extra in the world. A link is made again.
func (v *View) bindExtra(upper string, e Extra, o *overlayMount) error {
	info, err := os.Lstat(e.From)
	if err != nil {
		return err
	}
	name := filepath.Join(upper, filepath.FromSlash(e.Path))
	if err := os.MkdirAll(filepath.Dir(name), keptFolder); err != nil {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		text, err := os.Readlink(e.From)
		if err != nil {
			return err
		}
		return os.Symlink(text, name)
	case info.IsDir():
		err = os.Mkdir(name, keptFolder)
	default:
		err = os.WriteFile(name, nil, 0o644)
	}
	o.binds = append(o.binds, bindMount{e.From, filepath.Join(v.Root, filepath.FromSlash(e.Path)), false})
	return err
}
