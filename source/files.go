package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// readBelow reads a file below a folder, up to limit bytes and one more. No link leads out of
// the folder.
func readBelow(folder, name string, limit int64) ([]byte, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit+1))
}

// Files returns the files below a folder as they are at the time of each call. No link leads
// out of the folder. Lstat answers [fs.ErrNotExist] also for a name that no file can have.
func Files(folder string) fs.ReadLinkFS { return folderFiles(folder) }

// folderFiles is the name of a folder.
type folderFiles string

// within calls a function with the opened folder. A folder that cannot be opened is no sign
// that a file in it does not exist.
func (f folderFiles) within(do func(*os.Root) error) error {
	root, err := os.OpenRoot(string(f))
	if err != nil {
		return fmt.Errorf("opening folder %q: %v", string(f), err) //nolint:errorlint // must not be fs.ErrNotExist
	}
	defer func() { _ = root.Close() }() // it was only read
	return do(root)
}

// Open opens a file or a folder.
func (f folderFiles) Open(name string) (file fs.File, err error) {
	err = f.within(func(root *os.Root) error {
		file, err = root.FS().Open(name)
		return err
	})
	return file, err
}

// Stat describes a file, or the file that a link leads to. It never waits, as Open does for a
// pipe.
func (f folderFiles) Stat(name string) (info fs.FileInfo, err error) {
	err = f.within(func(root *os.Root) error {
		info, err = fs.Stat(root.FS(), name)
		return err
	})
	return info, err
}

// Lstat describes a file, and not where a link leads.
func (f folderFiles) Lstat(name string) (info fs.FileInfo, err error) {
	err = f.within(func(root *os.Root) error {
		info, err = root.Lstat(filepath.FromSlash(name))
		return err
	})
	if namesNothing(err) {
		err = &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrNotExist}
	}
	return info, err
}

// ReadLink returns where a link leads.
func (f folderFiles) ReadLink(name string) (target string, err error) {
	err = f.within(func(root *os.Root) error {
		target, err = root.Readlink(filepath.FromSlash(name))
		return err
	})
	return target, err
}

// namesNothing reports whether an error says that no file can have a name.
func namesNothing(err error) bool {
	return errors.Is(err, fs.ErrInvalid) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTDIR) ||
		errors.Is(err, syscall.ENAMETOOLONG)
}
