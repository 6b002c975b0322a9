package cli

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/app-sre/prcheck/internal/safepath"
)

// WriteFile writes a file as a whole or not at all: it calls write with a temporary file
// in the same folder, and renames that file when everything is on disk. An existing file
// is replaced. A device or a pipe is written directly. The name "-" means nothing special
// here.
//
// In a checkout, and below the current folder, a symbolic link in the path is an error, see
// package safepath. Elsewhere a link to a file stays, and the file that it leads to is
// replaced.
func WriteFile(name string, write func(io.Writer) error) error {
	if err := writeOrReplace(name, write); err != nil {
		return fmt.Errorf("writing %q: %w", name, err)
	}
	return nil
}

// writeOrReplace is WriteFile without context in its errors.
func writeOrReplace(name string, write func(io.Writer) error) error {
	info, err := safepath.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return withoutPath(err)
	case info.IsDir():
		return errors.New("is a directory, not a file")
	case !info.Mode().IsRegular():
		return writeDirectly(name, write)
	}
	folder, base, err := safepath.OpenParent(name)
	if err != nil {
		return withoutPath(err)
	}
	defer folder.Close()
	return writeAndRename(folder, base, write)
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

// writeAndRename writes a temporary file of a folder and renames it.
func writeAndRename(folder *os.Root, name string, write func(io.Writer) error) (err error) {
	temporary := "." + name + "." + rand.Text()
	f, err := folder.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return withoutPath(err)
	}
	done := false
	defer func() { // also when write panics
		if !done {
			_ = f.Close()
			_ = folder.Remove(temporary)
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
	if err := folder.Rename(temporary, name); err != nil {
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
