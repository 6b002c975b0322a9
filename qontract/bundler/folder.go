package bundler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/app-sre/prcheck/internal/listing"
)

// A Folder is the tree of a folder on disk. Its value is the name of the folder. No
// link leads out of it.
type Folder string

// open opens the folder.
func (f Folder) open() (*os.Root, error) {
	root, err := os.OpenRoot(string(f))
	if err != nil {
		return nil, fmt.Errorf("opening folder %q: %w", string(f), withoutPath(err))
	}
	return root, nil
}

// withoutPath returns the cause of a file error, without the path.
func withoutPath(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// List returns the entries below the folder dir. Folders named .git are left out.
func (f Folder) List(ctx context.Context, dir string) ([]Entry, error) {
	return f.list(ctx, dir, nil)
}

// list is [Folder.List] with a memory of the names in folders that did not change, or nil.
func (f Folder) list(ctx context.Context, dir string, m listing.Memory) ([]Entry, error) {
	root, err := f.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	l := lister{root: root, prefix: prefixOf(dir), name: filepath.Join(string(f), filepath.FromSlash(dir)), memory: m}
	info, err := root.Stat(filepath.FromSlash(dir))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, link := root.Lstat(filepath.FromSlash(dir)); errors.Is(link, fs.ErrNotExist) {
			err = errNoFolder
		}
	case err == nil && !info.IsDir():
		err = errors.New("is not a folder")
	}
	if err == nil {
		err = l.walk(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("listing folder %q: %w", path.Join(filepath.ToSlash(string(f)), dir), withoutPath(err))
	}
	return l.entries, nil
}

// A lister walks a folder by its name, because root would ask the system about each
// entry separately. If somebody replaces a folder by a link meanwhile, this can at
// most add wrong names: contents are only read through root.
type lister struct {
	root    *os.Root
	prefix  string // of the paths of all entries
	name    string
	memory  listing.Memory
	entries []Entry
}

// prefixOf returns what stands before the paths of all files below a folder.
func prefixOf(dir string) string {
	if dir = path.Clean(dir); dir == "." {
		return ""
	}
	return dir + "/"
}

// walk lists the folder and all folders in it.
func (l *lister) walk(ctx context.Context) error {
	found, err := listing.List(ctx, l.name, l.memory)
	if err != nil {
		return err
	}
	l.entries = make([]Entry, 0, len(found))
	for _, e := range found {
		if err := l.addEntry(e.Name, e.Type); err != nil {
			return err
		}
	}
	return nil
}

// addEntry adds a file, a link or an irregular entry.
func (l *lister) addEntry(name string, mode fs.FileMode) error {
	e := Entry{Name: name, Path: l.prefix + name, Kind: Irregular}
	switch {
	case mode.IsRegular():
		e.Kind = Regular
	case mode&fs.ModeSymlink != 0:
		target, err := l.root.Readlink(filepath.FromSlash(e.Path))
		if err != nil {
			return err
		}
		e.Kind, e.Target = Link, filepath.ToSlash(target)
	}
	l.entries = append(l.entries, e)
	return nil
}

// Open returns a reader of the folder.
func (f Folder) Open(context.Context) (Reader, error) {
	root, err := f.open()
	if err != nil {
		return nil, err
	}
	return &folderReader{root: root}, nil
}

// A folderReader keeps the folder of the last file open, since the next file is
// usually in the same folder.
type folderReader struct {
	root, current *os.Root
	dir           string
	buf           []byte
}

// Expect does nothing: reading from a disk needs no preparation.
func (r *folderReader) Expect([]Entry) error { return nil }

// Close closes the folders.
func (r *folderReader) Close() error {
	if r.current != nil {
		r.current.Close()
	}
	return r.root.Close()
}

// openDir returns a folder, opened.
func (r *folderReader) openDir(dir string) (*os.Root, error) {
	if r.current != nil && r.dir == dir {
		return r.current, nil
	}
	if r.current != nil {
		r.current.Close()
		r.current = nil
	}
	var err error
	r.current, err = r.root.OpenRoot(filepath.FromSlash(path.Clean("./" + dir)))
	r.dir = dir
	return r.current, err
}

// Read reads a file. If a pipe has taken the place of the file, it does not wait
// for a writer.
func (r *folderReader) Read(e Entry, limit int) ([]byte, error) {
	dir, base := path.Split(e.Path)
	in, err := r.openDir(dir)
	if err != nil {
		return nil, withoutPath(err)
	}
	f, err := in.OpenFile(base, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, withoutPath(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a file any more")
	}
	raw := growBuffer(&r.buf, int(min(info.Size(), int64(limit)))+1)
	n, err := io.ReadFull(f, raw)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return raw[:n], nil
	case err != nil:
		return nil, withoutPath(err)
	case n <= limit:
		return nil, errors.New("became larger while it was read")
	}
	return raw[:n], nil
}

// growBuffer returns size bytes of a buffer, and makes the buffer larger if
// necessary.
func growBuffer(buf *[]byte, size int) []byte {
	if cap(*buf) < size {
		*buf = make([]byte, size+size/2)
	}
	return (*buf)[:size]
}
