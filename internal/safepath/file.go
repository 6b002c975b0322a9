package safepath

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// OpenParent opens the folder of a file, and returns the name of the file in it. Outside of
// the places that [IsGuarded] tells, a link in the place of the file is resolved first.
func OpenParent(name string) (*os.Root, string, error) {
	if !IsGuarded(name) {
		if real, err := filepath.EvalSymlinks(name); err == nil {
			name = real
		}
	}
	root, err := OpenFolder(filepath.Dir(name))
	return root, filepath.Base(name), err
}

// Open opens a file for reading, as [os.Open] does.
func Open(name string) (*os.File, error) {
	if !IsGuarded(name) {
		return os.Open(name)
	}
	root, base, err := OpenParent(name)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: withoutPath(err)}
	}
	defer root.Close()
	f, err := OpenIn(root, base)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: withoutPath(err)}
	}
	return f, nil
}

// Stat returns what [Open] would open, as [os.Stat] does.
func Stat(name string) (fs.FileInfo, error) {
	if !IsGuarded(name) {
		return os.Stat(name)
	}
	root, base, err := OpenParent(name)
	if err != nil {
		return nil, &os.PathError{Op: "stat", Path: name, Err: withoutPath(err)}
	}
	defer root.Close()
	info, err := root.Lstat(base)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		err = ErrLink
	}
	if err != nil {
		return nil, &os.PathError{Op: "stat", Path: name, Err: withoutPath(err)}
	}
	return info, nil
}

// OpenIn opens a file of an open folder for reading. A link is [ErrLink].
func OpenIn(root *os.Root, name string) (*os.File, error) {
	return OpenFileIn(root, name, os.O_RDONLY, 0)
}

// OpenFileIn opens a file of an open folder with flags of [os.OpenFile]. A link is [ErrLink].
//
// Other processes may replace the file by another one all the time, so a file that is not
// the one that was looked at is tried again.
func OpenFileIn(root *os.Root, name string, flag int, mode fs.FileMode) (f *os.File, err error) {
	for range maxTries {
		f, err = openOnce(root, name, flag, mode)
		if !errors.Is(err, errReplaced) {
			return f, err
		}
	}
	return nil, err
}

// maxTries is how often a file or folder is opened that others replace at the same time.
const maxTries = 100

// errReplaced says that a name stood for something else when it was opened than before.
var errReplaced = errors.New("others replace it all the time")

func openOnce(root *os.Root, name string, flag int, mode fs.FileMode) (*os.File, error) {
	creates := flag&os.O_CREATE != 0
	if creates {
		f, err := root.OpenFile(name, flag|os.O_EXCL, mode)
		if err == nil || flag&os.O_EXCL != 0 || !os.IsExist(err) {
			return f, err
		}
		flag &^= os.O_CREATE
	}
	before, err := root.Lstat(name)
	if creates && errors.Is(err, fs.ErrNotExist) {
		return nil, errReplaced // it was there a moment ago
	}
	if err != nil {
		return nil, err
	}
	if before.Mode()&fs.ModeSymlink != 0 {
		return nil, ErrLink
	}
	f, err := root.OpenFile(name, flag&^os.O_TRUNC, mode)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err == nil && !os.SameFile(before, opened) {
		err = errReplaced // perhaps by a link, which the next try tells
	}
	if err == nil && flag&os.O_TRUNC != 0 {
		err = f.Truncate(0)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// Remove removes a file. It is no error if there is none.
func Remove(name string) error {
	root, base, err := OpenParent(name)
	if err == nil {
		defer root.Close()
		err = root.Remove(base)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
