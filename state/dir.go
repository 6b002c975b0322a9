package state

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/safepath"
)

// A Dir keeps documents as files of a folder.
type Dir struct {
	path string
	wait time.Duration // how long the lock is waited for
	// turn holds a value while a goroutine of this process waits for the lock of
	// the folder or holds it: the others wait for their turn, which costs less.
	turn chan struct{}
	// isLoose says that documents need not survive a crash of the machine.
	isLoose bool
}

var _ Store = (*Dir)(nil)

// Open returns the state in a folder. The folder may be missing: the first write makes
// it. A file or a symbolic link with the name of the folder is an error, and so is, inside
// of a checkout, a link in any part of its path.
func Open(folder string) (*Dir, error) {
	info, err := os.Lstat(folder)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		err = safepath.ErrLink
	} else if err == nil || errors.Is(err, fs.ErrNotExist) {
		info, err = safepath.Stat(folder)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, safepath.ErrLink):
		return nil, fmt.Errorf("opening the state %q: %w", folder, safepath.ErrLink)
	case err != nil:
		return nil, fmt.Errorf("opening the state: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("opening the state: %q is not a folder; name the folder to remember in", folder)
	}
	return &Dir{path: folder, wait: lockWait, turn: make(chan struct{}, 1)}, nil
}

// OpenLoose is like [Open], for documents that need not survive a crash of the machine: they are
// written without waiting for the disk. A document that is only on the disk in part counts as damaged.
func OpenLoose(folder string) (*Dir, error) {
	d, err := Open(folder)
	if err == nil {
		d.isLoose = true
	}
	return d, err
}

// Read implements [Store].
func (d *Dir) Read(ctx context.Context, key string) (raw []byte, err error) {
	err = d.withRoot(ctx, "reading", key, func(root *os.Root) error {
		raw, err = readFile(root, key)
		return err
	})
	return raw, err
}

// Write implements [Store].
func (d *Dir) Write(ctx context.Context, key string, raw []byte) error {
	return d.withCreatedRoot(ctx, "writing", key, func(root *os.Root) error {
		if err := CheckSize(raw); err != nil {
			return err
		}
		return d.replaceFile(root, key, raw, func(move func() error) error {
			err := d.locked(ctx, root, move)
			if errors.Is(err, errNoLocks) {
				return move() // the document is whole without a lock, and without locks nobody updates it
			}
			return err
		})
	})
}

// Update implements [Store]. No process writes to the folder while change is called.
func (d *Dir) Update(ctx context.Context, key string, change func(old []byte) ([]byte, error)) error {
	return d.withCreatedRoot(ctx, "changing", key, func(root *os.Root) error {
		return d.locked(ctx, root, func() error {
			old, err := readFile(root, key)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			raw, err := change(old)
			if err != nil || raw == nil {
				return err
			}
			if err := CheckSize(raw); err != nil {
				return err
			}
			return d.replaceFile(root, key, raw, func(move func() error) error { return move() })
		})
	})
}

// Remove implements [Store].
func (d *Dir) Remove(ctx context.Context, key string) error {
	return d.remove(ctx, key, func(*os.Root) error { return nil })
}

// Discard implements [Store].
func (d *Dir) Discard(ctx context.Context, e Entry) error {
	return d.remove(ctx, e.Key, func(folder *os.Root) error {
		info, err := folder.Lstat(path.Base(e.Key))
		if err == nil && (info.Size() != e.Size || !info.ModTime().Equal(e.Written)) {
			err = fs.ErrNotExist // the listed document is gone
		}
		return err
	})
}

// remove removes a document unless check, which gets its folder, returns an error. [fs.ErrNotExist] is no error.
func (d *Dir) remove(ctx context.Context, key string, check func(*os.Root) error) error {
	err := d.withRoot(ctx, "removing", key, func(root *os.Root) error {
		checkAndRemove := func() error {
			folder, err := safepath.Below(root, path.Dir(key), false)
			if err != nil {
				return err
			}
			defer folder.Close()
			if err := check(folder); err != nil {
				return err
			}
			return folder.Remove(path.Base(key))
		}
		if err := d.locked(ctx, root, checkAndRemove); !errors.Is(err, errNoLocks) {
			return err
		}
		return checkAndRemove()
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// List implements [Store].
func (d *Dir) List(ctx context.Context, folder string) ([]Entry, error) {
	if err := CheckFolder(folder); err != nil {
		return nil, err
	}
	var out []Entry
	err := d.walk(ctx, folder, func(name string, info fs.FileInfo) {
		if keyPattern.MatchString(name) {
			out = append(out, Entry{Key: name, Size: info.Size(), Written: info.ModTime()})
		}
	})
	sortNewestFirst(out)
	return out, err
}

// walk visits the files below a folder. It follows no symbolic links and leaves out
// folders whose names begin with a dot, since no key has those.
func (d *Dir) walk(ctx context.Context, folder string, visit func(name string, info fs.FileInfo)) error {
	key := folder
	if folder == "" {
		key, folder = "all", "."
	}
	err := d.withRoot(ctx, "listing", key, func(root *os.Root) error {
		return fs.WalkDir(root.FS(), folder, func(name string, e fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return ended(ctx)
			case errors.Is(err, fs.ErrNotExist) && name != folder:
				return nil // removed since it was listed
			case err != nil:
				return err
			case e.IsDir() && name != "." && strings.HasPrefix(e.Name(), "."):
				return fs.SkipDir
			}
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
				visit(name, info)
			}
			return nil
		})
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// tidy removes the unfinished files of writers that died before a time.
func (d *Dir) tidy(ctx context.Context, before time.Time) error {
	var left []string
	err := d.walk(ctx, "", func(name string, info fs.FileInfo) {
		if strings.HasPrefix(path.Base(name), unfinished) && info.ModTime().Before(before) {
			left = append(left, name)
		}
	})
	if err != nil || len(left) == 0 {
		return err
	}
	return d.withRoot(ctx, "tidying", "all", func(root *os.Root) error {
		var errs []error
		for _, name := range left {
			if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
		return errors.Join(errs...)
	})
}

// withCreatedRoot creates the folder and calls withRoot.
func (d *Dir) withCreatedRoot(ctx context.Context, doing, key string, do func(*os.Root) error) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	root, err := safepath.MakeFolder(d.path)
	if err != nil {
		return fmt.Errorf("%s %q in the state: %w", doing, key, withoutPath(err))
	}
	defer root.Close()
	return d.with(ctx, root, doing, key, do)
}

// withRoot calls do with the open folder, unless ctx has ended. Its errors say what was being
// done with which key.
func (d *Dir) withRoot(ctx context.Context, doing, key string, do func(*os.Root) error) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	root, err := safepath.OpenFolder(d.path)
	if err != nil {
		err = cmp.Or(ended(ctx), err)
		return fmt.Errorf("%s %q in the state: %w", doing, key, withoutPath(err))
	}
	defer root.Close()
	return d.with(ctx, root, doing, key, do)
}

// with calls do with the folder, which is open, unless ctx has ended.
func (d *Dir) with(ctx context.Context, root *os.Root, doing, key string, do func(*os.Root) error) error {
	err := ended(ctx)
	if err == nil {
		err = do(root)
	}
	if err != nil {
		return fmt.Errorf("%s %q in the state: %w", doing, key, withoutPath(err))
	}
	return nil
}

// withoutPath leaves the path of a file out of an error.
func withoutPath(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// unfinished is the prefix of the names of files, and objects, that are not documents:
// they are being written, or serve to try out a bucket.
const unfinished = ".new-"

// readFile reads the file of a document. It follows no links.
func readFile(root *os.Root, key string) ([]byte, error) {
	folder, err := safepath.Below(root, path.Dir(key), false)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	f, err := safepath.OpenFileIn(folder, path.Base(key), os.O_RDONLY|nowait, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a file")
	}
	if err == nil && info.Size() > MaxDocument {
		err = fmt.Errorf("it has more than %d bytes", MaxDocument)
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, MaxDocument))
}

// replaceFile writes a document to a new file and moves the file to its place. The
// function guard calls the move, for instance while it holds a lock.
func (d *Dir) replaceFile(root *os.Root, key string, raw []byte, guard func(move func() error) error) error {
	folder, err := safepath.Below(root, path.Dir(key), true)
	if err != nil {
		return err
	}
	defer folder.Close()
	temporary := unfinished + rand.Text()
	err = createFile(folder, temporary, raw, !d.isLoose)
	if err == nil {
		err = guard(func() error { return folder.Rename(temporary, path.Base(key)) })
	}
	if err != nil {
		_ = folder.Remove(temporary)
		return err
	}
	if !d.isLoose {
		syncFolder(folder)
	}
	return nil
}

// createFile creates a file. With sync it is on disk when createFile returns.
func createFile(root *os.Root, name string, raw []byte, sync bool) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err == nil && sync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncFolder writes the names in a folder to disk, on systems that can do so. On others
// a crash may bring back an older document, but never a part of one.
func syncFolder(folder *os.Root) {
	if f, err := folder.Open("."); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}
