package state

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// MaxDocument is the size in bytes above which a document is neither written
// nor read.
const MaxDocument = 64 << 20

// ErrNotFound says that there is no document with the key.
var ErrNotFound = fs.ErrNotExist

// A Dir keeps documents as files of a folder. Several goroutines and processes
// may use the same folder at once.
type Dir struct{ path string }

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
	return &Dir{folder}, nil
}

// An Entry is a document that is there.
type Entry struct {
	Key     string
	Size    int64
	Written time.Time
}

// plainKey is what a key looks like.
var plainKey = regexp.MustCompile(`^[a-z0-9_-][a-z0-9._-]*(/[a-z0-9_-][a-z0-9._-]*)*$`)

func check(key string) error {
	if !plainKey.MatchString(key) || len(key) > 200 {
		return fmt.Errorf("%q is no key of the state", key)
	}
	return nil
}

// Name returns a part of a key that stands for the texts, and for no others.
func Name(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(t), t) // never fails
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}

// Read returns a document. The error is [ErrNotFound] when there is none.
func (d *Dir) Read(key string) ([]byte, error) {
	var raw []byte
	err := d.in("reading", key, func(root *os.Root) error {
		f, err := root.Open(key)
		if err != nil {
			return err
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
			return err
		}
		raw, err = io.ReadAll(io.LimitReader(f, MaxDocument))
		return err
	})
	return raw, err
}

// Write stores a document under a key, in place of the one that is there.
func (d *Dir) Write(key string, raw []byte) error {
	if len(raw) > MaxDocument {
		return fmt.Errorf("writing %q to the state: it has more than %d bytes", key, MaxDocument)
	}
	if err := os.MkdirAll(d.path, 0o750); err != nil {
		return fmt.Errorf("writing %q to the state: %w", key, err)
	}
	return d.in("writing", key, func(root *os.Root) error {
		folder := path.Dir(key)
		if err := root.MkdirAll(folder, 0o750); err != nil {
			return err
		}
		temporary := path.Join(folder, ".new-"+rand.Text())
		if err := fill(root, temporary, raw); err != nil {
			_ = root.Remove(temporary)
			return err
		}
		if err := root.Rename(temporary, key); err != nil {
			_ = root.Remove(temporary)
			return err
		}
		return sync(root, folder)
	})
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

// sync puts the names of a folder on disk, where the system can.
func sync(root *os.Root, folder string) error {
	f, err := root.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	_ = f.Sync() // not every file system can; the document itself is safe
	return nil
}

// Remove forgets a document. One that is not there is no error.
func (d *Dir) Remove(key string) error {
	err := d.in("removing", key, func(root *os.Root) error { return root.Remove(key) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// List returns the documents directly below a key, the newest first, and by key
// when they are equally old.
func (d *Dir) List(folder string) ([]Entry, error) {
	var out []Entry
	err := d.in("listing", folder, func(root *os.Root) error {
		found, err := fs.ReadDir(root.FS(), folder)
		if err != nil {
			return err
		}
		for _, f := range found {
			info, err := f.Info()
			if err != nil || !info.Mode().IsRegular() || !plainKey.MatchString(f.Name()) {
				continue // just removed, or none of ours
			}
			out = append(out, Entry{folder + "/" + f.Name(), info.Size(), info.ModTime()})
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	slices.SortFunc(out, func(a, b Entry) int {
		if c := b.Written.Compare(a.Written); c != 0 {
			return c
		}
		return strings.Compare(a.Key, b.Key)
	})
	return out, err
}

// in calls do with the folder open.
func (d *Dir) in(doing, key string, do func(*os.Root) error) error {
	if err := check(key); err != nil {
		return err
	}
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return fmt.Errorf("%s %q in the state: %w", doing, key, cause(err))
	}
	defer root.Close()
	if err := do(root); err != nil {
		return fmt.Errorf("%s %q in the state: %w", doing, key, cause(err))
	}
	return nil
}

// cause leaves the names of files out of an error.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
