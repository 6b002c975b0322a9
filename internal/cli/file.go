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

// WriteFile writes a file as a whole or not at all: it calls write with a temporary file
// in the same folder, and renames that file when everything is on disk. An existing file
// is replaced. A symbolic link to a file stays, and the file that it leads to is replaced.
// A device or a pipe is written directly. The name "-" means nothing special here.
func WriteFile(name string, write func(io.Writer) error) error {
	if err := writeOrReplace(name, write); err != nil {
		return fmt.Errorf("writing %q: %w", name, err)
	}
	return nil
}

// writeOrReplace is WriteFile without context in its errors.
func writeOrReplace(name string, write func(io.Writer) error) error {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return withoutPath(err)
	case info.IsDir():
		return errors.New("is a directory, not a file")
	case !info.Mode().IsRegular():
		return writeDirectly(name, write)
	default:
		if name, err = filepath.EvalSymlinks(name); err != nil {
			return withoutPath(err)
		}
	}
	return writeAndRename(name, write)
}

// writeDirectly writes to a file that cannot be replaced, such as /dev/stdout or a named
// pipe.
func writeDirectly(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return withoutPath(err)
	}
	err = fill(f, write)
	return errors.Join(err, withoutPath(f.Close()))
}

// writeAndRename writes a temporary file and renames it.
func writeAndRename(name string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return withoutPath(err)
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
		return withoutPath(err)
	}
	if err := f.Sync(); err != nil {
		return withoutPath(err)
	}
	if err := f.Close(); err != nil {
		return withoutPath(err)
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return withoutPath(err)
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

// A sink is a file whose errors do not contain its temporary name.
type sink struct{ f *os.File }

func (s sink) Write(p []byte) (int, error) {
	n, err := s.f.Write(p)
	return n, withoutPath(err)
}

// withoutPath returns the error of the system in a file error, without the name of the file.
func withoutPath(err error) error {
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
