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
)

// A Folder is the tree of a folder as it is on disk, by its name. No link leads
// out of it.
type Folder string

func (f Folder) open() (*os.Root, error) {
	root, err := os.OpenRoot(string(f))
	if err != nil {
		return nil, fmt.Errorf("opening folder %q: %w", string(f), bare(err))
	}
	return root, nil
}

// bare is a file error without the name.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// List walks the folder dir, but for folders named .git.
func (f Folder) List(ctx context.Context, dir string) ([]Entry, error) {
	root, err := f.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	l := lister{root: root, dir: dir, name: filepath.Join(string(f), filepath.FromSlash(dir))}
	info, err := root.Stat(filepath.FromSlash(dir))
	if err == nil && !info.IsDir() {
		err = errors.New("is not a folder")
	}
	if err == nil {
		err = l.walk(ctx, "")
	}
	if err != nil {
		return nil, fmt.Errorf("listing folder %q: %w", path.Join(filepath.ToSlash(string(f)), dir), bare(err))
	}
	return l.entries, nil
}

// A lister walks a folder by name, since going through root would ask about
// each entry by itself. A name that is swapped meanwhile can at most add names;
// contents are read through root alone.
type lister struct {
	root    *os.Root
	dir     string
	name    string
	entries []Entry
}

func (l *lister) walk(ctx context.Context, below string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d, err := os.Open(filepath.Join(l.name, filepath.FromSlash(below)))
	if err != nil {
		return err
	}
	list, err := d.ReadDir(-1)
	d.Close()
	if err != nil {
		return err
	}
	for _, e := range list {
		name := path.Join(below, e.Name())
		if e.IsDir() {
			if e.Name() == ".git" {
				continue
			}
			if err := l.walk(ctx, name); err != nil {
				return err
			}
			continue
		}
		if err := l.add(name, e.Type()); err != nil {
			return err
		}
	}
	return nil
}

func (l *lister) add(name string, mode fs.FileMode) error {
	e := Entry{Name: name, Path: path.Join(l.dir, name), Kind: Irregular}
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

// Open gives a reader of the folder.
func (f Folder) Open(context.Context) (Reader, error) {
	root, err := f.open()
	if err != nil {
		return nil, err
	}
	return &folderReader{root: root}, nil
}

// A folderReader keeps the folder open in which the last file was: the next one
// is mostly there too.
type folderReader struct {
	root, last *os.Root
	dir        string
	buf        []byte
}

// Expect does nothing: the disk needs no notice.
func (r *folderReader) Expect([]Entry) error { return nil }

// Close gives the folders back.
func (r *folderReader) Close() error {
	if r.last != nil {
		r.last.Close()
	}
	return r.root.Close()
}

// in gives the folder of a file.
func (r *folderReader) in(dir string) (*os.Root, error) {
	if r.last != nil && r.dir == dir {
		return r.last, nil
	}
	if r.last != nil {
		r.last.Close()
		r.last = nil
	}
	var err error
	r.last, err = r.root.OpenRoot(filepath.FromSlash(path.Clean("./" + dir)))
	r.dir = dir
	return r.last, err
}

// Read reads a file without waiting for the other end of a pipe that took its
// place.
func (r *folderReader) Read(e Entry, limit int) ([]byte, error) {
	dir, base := path.Split(e.Path)
	in, err := r.in(dir)
	if err != nil {
		return nil, bare(err)
	}
	f, err := in.OpenFile(base, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, bare(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, bare(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is no file any more")
	}
	raw := reuse(&r.buf, int(min(info.Size(), int64(limit)))+1)
	n, err := io.ReadFull(f, raw)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return raw[:n], nil
	case err != nil:
		return nil, bare(err)
	case n <= limit:
		return nil, errors.New("grows while it is read")
	}
	return raw[:n], nil
}

// reuse gives size bytes of a buffer, which grows when it has to.
func reuse(buf *[]byte, size int) []byte {
	if cap(*buf) < size {
		*buf = make([]byte, size+size/2)
	}
	return (*buf)[:size]
}
