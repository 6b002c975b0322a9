package source

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/git"
)

// The bounds of what a word of a command names.
const (
	maxProgramFiles = 100_000
	maxProgramBytes = 1 << 30
)

// Programs digests what the words of a command name in the repository, or in the
// folder that tasks start in when that is in none: scripts, and folders with
// sources, but not that folder itself. A word may come from head, so nothing outside
// is read. The error names a word of which the contents cannot be known.
func Programs(s *integration.Settings) func(argv []string) (string, error) {
	p := programs{Folder(s), map[string]program{}}
	return func(argv []string) (string, error) {
		var all []string
		for _, word := range argv {
			of, known := p.known[word]
			if !known {
				of.digest, of.err = p.read(word)
				p.known[word] = of
			}
			if of.err != nil {
				return "", fmt.Errorf("%q: %w", word, of.err)
			}
			if of.digest != "" {
				all = append(all, fmt.Sprintf("%q %s", word, of.digest))
			}
		}
		return strings.Join(all, " "), nil
	}
}

type programs struct {
	folder string
	known  map[string]program // by word
}

type program struct {
	digest string
	err    error
}

// read digests what a word names, "" when that is nothing.
func (p programs) read(word string) (string, error) {
	folder, err := filepath.Abs(p.folder)
	if err != nil {
		return "", err
	}
	name, root := filepath.FromSlash(word), git.RootOf(folder)
	if !filepath.IsAbs(name) {
		name = filepath.Join(folder, name)
	}
	if filepath.Clean(name) == folder {
		return "", nil
	}
	if name, err = filepath.Rel(root, name); err != nil || name == "." || !filepath.IsLocal(name) {
		return "", nil //nolint:nilerr // it is not of the repository
	}
	in, err := os.OpenRoot(root)
	if err != nil {
		return "", err
	}
	defer func() { _ = in.Close() }() // it was only read
	if _, err := in.Lstat(name); namesNothing(err) {
		return "", nil
	}
	return digestOf(in.FS(), filepath.ToSlash(name))
}

// namesNothing tells whether a name is that of no file.
func namesNothing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) ||
		errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}

// What is wrong with a program.
var (
	errNoFile  = errors.New("not all in it are files and folders")
	errTooMuch = errors.New("it is too large to be looked at")
)

// digestOf digests a file, or all files of a folder, wherever that is.
func digestOf(in fs.FS, name string) (string, error) {
	all, files, left := sha256.New(), 0, int64(maxProgramBytes)
	err := fs.WalkDir(in, name, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		if files++; files > maxProgramFiles {
			return errTooMuch
		}
		_, _ = fmt.Fprintf(all, "%q %s\n", strings.TrimPrefix(path, name), d.Type()) // a hash never fails
		info, err := fs.Stat(in, path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // a link that leads nowhere
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return errNoFile // a link to a folder, or a pipe
		}
		f, err := in.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // it was only read
		n, err := io.Copy(all, io.LimitReader(f, left+1))
		_, _ = fmt.Fprintf(all, "\n%d\n", n)
		if left -= n; left < 0 {
			return errTooMuch
		}
		return err
	})
	return fmt.Sprintf("%x", all.Sum(nil)), err
}
