package safepath

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// ErrLink says that a path has a symbolic link where none is followed.
var ErrLink = errors.New("a symbolic link is not followed inside of a checkout: take it out of the repository, or " +
	"name another place")

// Checkout returns the root of the checkout that a file or folder lies in, by its name, and
// its path below the root. If checkouts lie in each other it takes the outermost.
func Checkout(name string) (root, rel string, ok bool) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", "", false
	}
	for dir := abs; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			root, ok = dir, true
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if ok {
		rel, err = filepath.Rel(root, abs)
	}
	return root, rel, ok && err == nil
}

// IsGuarded reports whether no links are followed in a path: it lies in a checkout or below
// the current folder.
func IsGuarded(name string) bool {
	_, _, ok := split(name)
	return ok
}

// split divides a path into the folder from which on no links are followed, and the path
// below it.
func split(name string) (root, rel string, ok bool) {
	if root, rel, ok = Checkout(name); ok {
		return root, rel, true
	}
	current, err := os.Getwd()
	if err != nil {
		return "", "", false
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", "", false
	}
	rel, err = filepath.Rel(current, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return "", "", false
	}
	return current, rel, true
}

// OpenFolder opens a folder.
func OpenFolder(name string) (*os.Root, error) { return openFolder(name, false) }

// MakeFolder opens a folder, and makes it and the folders above it if they are missing.
func MakeFolder(name string) (*os.Root, error) { return openFolder(name, true) }

func openFolder(name string, create bool) (*os.Root, error) {
	top, rel, ok := split(name)
	if !ok {
		if create {
			if err := os.MkdirAll(name, 0o750); err != nil {
				return nil, err
			}
		}
		return os.OpenRoot(name)
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return Below(root, rel, create)
}

// Below opens a folder below an open folder. With create it makes the folders that are
// missing.
func Below(root *os.Root, name string, create bool) (*os.Root, error) {
	at, err := root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	done := ""
	for part := range strings.SplitSeq(filepath.ToSlash(filepath.Clean(name)), "/") {
		if part == "." {
			continue
		}
		done = filepath.Join(done, part)
		next, err := enter(at, part, create)
		_ = at.Close() // it was only read
		if err != nil {
			return nil, &os.PathError{Op: "open", Path: filepath.Join(root.Name(), done), Err: withoutPath(err)}
		}
		at = next
	}
	return at, nil
}

// enter opens a folder that lies directly in an open folder.
func enter(at *os.Root, name string, create bool) (next *os.Root, err error) {
	for range maxTries {
		next, err = enterOnce(at, name, create)
		if !errors.Is(err, errReplaced) {
			return next, err
		}
	}
	return nil, err
}

func enterOnce(at *os.Root, name string, create bool) (*os.Root, error) {
	info, err := at.Lstat(name)
	if create && errors.Is(err, os.ErrNotExist) {
		if err = at.Mkdir(name, 0o750); err == nil || errors.Is(err, os.ErrExist) {
			info, err = at.Lstat(name)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&os.ModeSymlink != 0:
		return nil, ErrLink
	case !info.IsDir():
		return nil, errNoFolder
	}
	next, err := at.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened, err := next.Stat(".")
	if err == nil && !os.SameFile(info, opened) {
		err = errReplaced // perhaps by a link, which the next try tells
	}
	if err != nil {
		_ = next.Close() // it is not used
		return nil, err
	}
	return next, nil
}

var errNoFolder = errors.New("not a directory")

// withoutPath returns the error of the system in a file error, without the name of the file.
func withoutPath(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
