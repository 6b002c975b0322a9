package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile writes a file as a whole or not at all: write fills a temporary
// file beside it, which takes the name when everything is on disk. A file of
// that name is replaced, a symbolic link to a file keeps pointing to it, and a
// device or a pipe is written as it is. Whether "-" means stdout is for the
// caller to say.
func WriteFile(name string, write func(io.Writer) error) error {
	if err := replace(name, write); err != nil {
		return fmt.Errorf("writing %q: %w", name, err)
	}
	return nil
}

func replace(name string, write func(io.Writer) error) error {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return cause(err)
	case info.IsDir():
		return errors.New("is a directory, not a file")
	case !info.Mode().IsRegular():
		return overwrite(name, write)
	default:
		if name, err = filepath.EvalSymlinks(name); err != nil {
			return cause(err)
		}
	}
	return swap(name, write)
}

// overwrite fills what cannot be replaced: /dev/stdout, a named pipe.
func overwrite(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return cause(err)
	}
	err = fill(f, write)
	return errors.Join(err, cause(f.Close()))
}

// swap fills a temporary file and renames it.
func swap(name string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return cause(err)
	}
	done := false
	defer func() { // also when write panics
		if !done {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err := fill(f, write); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return cause(err)
	}
	if err := f.Sync(); err != nil {
		return cause(err)
	}
	if err := f.Close(); err != nil {
		return cause(err)
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return cause(err)
	}
	done = true
	return nil
}

func fill(f *os.File, write func(io.Writer) error) error {
	w := bufio.NewWriter(sink{f})
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// A sink is a file whose errors do not tell the temporary name.
type sink struct{ f *os.File }

func (s sink) Write(p []byte) (int, error) {
	n, err := s.f.Write(p)
	return n, cause(err)
}

// cause is the system's own word of a file error, without the file's name.
func cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
