package rules

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
)

// The bounds of the files that one word of a command mentions.
const (
	maxProgramFiles = 100_000
	maxProgramBytes = 1 << 30
)

// A Workplace is the folder that tasks start in, and the repository around it.
type Workplace struct {
	Root   string // absolute path of the repository, or of the folder when it lies in none
	Folder string // absolute path of the folder that tasks start in
	// Files are the files below Root. No link leads out of them, and Lstat answers
	// [fs.ErrNotExist] also for a name that no file can have.
	Files fs.ReadLinkFS
}

// Programs returns a function that digests the repository files that a command line
// mentions, or returns "" if it mentions none. Such files are scripts, and folders with
// sources, but not the folder that tasks start in: mentioning that says nothing. For example,
// the digest of ["go", "run", "./cmd/dns"] is made of all files in cmd/dns.
//
// A word may come from head, so nothing outside of the repository is read. The error names a
// word that mentions a file or a folder whose contents cannot be known.
func Programs(at Workplace) func(argv []string) (string, error) {
	known := map[string]program{} // by word
	return func(argv []string) (string, error) {
		var all []string
		for _, word := range argv {
			p, ok := known[word]
			if !ok {
				p.digest, p.err = at.digest(word)
				known[word] = p
			}
			if p.err != nil {
				return "", fmt.Errorf("%q: %w", word, p.err)
			}
			if p.digest != "" {
				all = append(all, fmt.Sprintf("%q %s", word, p.digest))
			}
		}
		return strings.Join(all, " "), nil
	}
}

// A program is the digest of the files that a word mentions, or why there is none.
type program struct {
	digest string
	err    error
}

// digest digests the file or folder that a word mentions; "" if there is none.
func (at Workplace) digest(word string) (string, error) {
	name := filepath.FromSlash(word)
	if !filepath.IsAbs(name) {
		name = filepath.Join(at.Folder, name)
	}
	if filepath.Clean(name) == at.Folder {
		return "", nil
	}
	name, err := filepath.Rel(at.Root, name)
	if err != nil || name == "." || !filepath.IsLocal(name) {
		return "", nil //nolint:nilerr // it is not of the repository
	}
	name = filepath.ToSlash(name)
	if _, err := at.Files.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return digestFiles(at.Files, name)
}

// Why a program cannot be digested.
var (
	errNoFile  = errors.New("not all in it are files and folders")
	errTooMuch = errors.New("it is too large to be looked at")
)

// digestFiles digests a file, or all files of a folder with their names below it. The digest
// does not depend on where the file or the folder is.
func digestFiles(in fs.FS, name string) (string, error) {
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
		n, err := copyFile(all, in, path, left)
		_, _ = fmt.Fprintf(all, "\n%d\n", n)
		if left -= n; left < 0 {
			return errTooMuch
		}
		return err
	})
	return fmt.Sprintf("%x", all.Sum(nil)), err
}

// copyFile writes a file to w, up to limit bytes and one more, and returns how many they are.
func copyFile(w io.Writer, in fs.FS, path string, limit int64) (int64, error) {
	f, err := in.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.Copy(w, io.LimitReader(f, limit+1))
}
