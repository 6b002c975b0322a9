package state

import (
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
)

// unfinished is how the names of files begin that are no documents yet.
const unfinished = ".new-"

// A Dir keeps documents as files of a folder.
type Dir struct {
	path string
	wait time.Duration // how long the lock is waited for
	// turn holds a value while a goroutine of this process waits for the lock of
	// the folder or holds it: the others wait for their turn, which costs less.
	turn chan struct{}
}

var _ Store = (*Dir)(nil)

// Open returns what is remembered in a folder. The folder need not be there
// yet; when something else has its name that is an error.
func Open(folder string) (*Dir, error) {
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("opening the state: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("opening the state: %q is not a folder; name the folder to remember in", folder)
	}
	return &Dir{path: folder, wait: lockWait, turn: make(chan struct{}, 1)}, nil
}

// Read returns a document. The error is [ErrNotFound] when there is none.
func (d *Dir) Read(ctx context.Context, key string) (raw []byte, err error) {
	err = d.in(ctx, "reading", key, func(root *os.Root) error {
		raw, err = read(root, key)
		return err
	})
	return raw, err
}

func read(root *os.Root, key string) ([]byte, error) {
	f, err := root.OpenFile(key, os.O_RDONLY|nowait, 0)
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

// Write stores a document, in place of the one that is there.
func (d *Dir) Write(ctx context.Context, key string, raw []byte) error {
	return d.within(ctx, "writing", key, func(root *os.Root) error {
		if err := checkSize(raw); err != nil {
			return err
		}
		return put(root, key, raw, func(move func() error) error {
			err := d.locked(ctx, root, move)
			if errors.Is(err, errNoLocks) {
				return move() // whole all the same, and nobody can update here
			}
			return err
		})
	})
}

// Update replaces a document by what change makes of it, while nobody else
// writes to the folder.
func (d *Dir) Update(ctx context.Context, key string, change func(old []byte) ([]byte, error)) error {
	return d.within(ctx, "changing", key, func(root *os.Root) error {
		return d.locked(ctx, root, func() error {
			old, err := read(root, key)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			raw, err := change(old)
			if err != nil || raw == nil {
				return err
			}
			if err := checkSize(raw); err != nil {
				return err
			}
			return put(root, key, raw, func(move func() error) error { return move() })
		})
	})
}

// put writes a document beside its place and moves it there, with what guard
// does around the move.
func put(root *os.Root, key string, raw []byte, guard func(move func() error) error) error {
	folder := path.Dir(key)
	if err := root.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	temporary := path.Join(folder, unfinished+rand.Text())
	err := fill(root, temporary, raw)
	if err == nil {
		err = guard(func() error { return root.Rename(temporary, key) })
	}
	if err != nil {
		_ = root.Remove(temporary)
		return err
	}
	flush(root, folder)
	return nil
}

// fill makes a new file that is on disk when it returns.
func fill(root *os.Root, name string, raw []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// flush puts the names of a folder on disk, where the system can. Where it
// cannot, documents are whole all the same.
func flush(root *os.Root, folder string) {
	if f, err := root.Open(folder); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}

// Remove forgets a document. One that is not there is no error.
func (d *Dir) Remove(ctx context.Context, key string) error {
	return d.remove(ctx, key, func(*os.Root) error { return nil })
}

// Discard forgets a document if it is still as it was listed.
func (d *Dir) Discard(ctx context.Context, e Entry) error {
	return d.remove(ctx, e.Key, func(root *os.Root) error {
		info, err := root.Lstat(e.Key)
		if err == nil && (info.Size() != e.Size || !info.ModTime().Equal(e.Written)) {
			err = fs.ErrNotExist // that one is gone
		}
		return err
	})
}

func (d *Dir) remove(ctx context.Context, key string, unless func(*os.Root) error) error {
	err := d.in(ctx, "removing", key, func(root *os.Root) error {
		forget := func() error {
			if err := unless(root); err != nil {
				return err
			}
			return root.Remove(key)
		}
		if err := d.locked(ctx, root, forget); !errors.Is(err, errNoLocks) {
			return err
		}
		return forget()
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// List returns the documents below a key, the newest first.
func (d *Dir) List(ctx context.Context, folder string) ([]Entry, error) {
	if err := checkFolder(folder); err != nil {
		return nil, err
	}
	var out []Entry
	err := d.walk(ctx, folder, func(name string, info fs.FileInfo) {
		if plainKey.MatchString(name) {
			out = append(out, Entry{Key: name, Size: info.Size(), Written: info.ModTime()})
		}
	})
	newestFirst(out)
	return out, err
}

// walk visits the files below a folder. Links are not followed, and folders
// whose names begin with a dot are none of ours.
func (d *Dir) walk(ctx context.Context, folder string, visit func(name string, info fs.FileInfo)) error {
	said := folder
	if folder == "" {
		said, folder = "all", "."
	}
	err := d.in(ctx, "listing", said, func(root *os.Root) error {
		return fs.WalkDir(root.FS(), folder, func(name string, e fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return ended(ctx)
			case errors.Is(err, fs.ErrNotExist) && name != folder:
				return nil // just removed
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

// tidy removes what writers that died left behind before a time.
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
	return d.in(ctx, "tidying", "all", func(root *os.Root) error {
		var errs []error
		for _, name := range left {
			if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
		return errors.Join(errs...)
	})
}

// within is in, and makes the folder first.
func (d *Dir) within(ctx context.Context, doing, key string, do func(*os.Root) error) error {
	if err := check(key); err != nil {
		return err
	}
	if err := os.MkdirAll(d.path, 0o750); err != nil {
		return fmt.Errorf("%s %q in the state: %w", doing, key, cause(err))
	}
	return d.in(ctx, doing, key, do)
}

// in calls do with the folder open, unless ctx has ended.
func (d *Dir) in(ctx context.Context, doing, key string, do func(*os.Root) error) error {
	if err := check(key); err != nil {
		return err
	}
	err := ended(ctx)
	if err == nil {
		err = d.open(do)
	}
	if err != nil {
		return fmt.Errorf("%s %q in the state: %w", doing, key, cause(err))
	}
	return nil
}

func (d *Dir) open(do func(*os.Root) error) error {
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return err
	}
	defer root.Close()
	return do(root)
}

// cause leaves the names of files out of an error.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
