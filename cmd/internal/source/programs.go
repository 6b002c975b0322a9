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

	"github.com/app-sre/prcheck/integration"
)

// The bounds of what a word of a command names. What is larger is not looked at.
const (
	maxProgramFiles = 100_000
	maxProgramBytes = 1 << 30
)

// Programs digests what the words of a command name in the folder that tasks start
// in: scripts, and folders with sources, but not that folder itself. A word may come
// from head, so nothing outside of it is read.
func Programs(s *integration.Settings) func(argv []string) string {
	p := programs{Folder(s), map[string]string{}}
	return func(argv []string) string {
		var all []string
		for _, word := range argv {
			if digest := p.named(word); digest != "" {
				all = append(all, digest)
			}
		}
		return strings.Join(all, " ")
	}
}

type programs struct {
	folder string
	known  map[string]string // by word
}

// named digests what a word names, "" when that is nothing, or too much.
func (p programs) named(word string) string {
	digest, known := p.known[word]
	if !known {
		digest = p.read(word)
		p.known[word] = digest
	}
	return digest
}

func (p programs) read(word string) string {
	name, root := filepath.FromSlash(word), p.folder
	if root == "" {
		root = "."
	}
	if filepath.IsAbs(name) {
		dir, err := filepath.Abs(root)
		if err != nil {
			return ""
		}
		if name, err = filepath.Rel(dir, name); err != nil {
			return ""
		}
	}
	if name = filepath.Clean(name); name == "." || !filepath.IsLocal(name) {
		return ""
	}
	in, err := os.OpenRoot(root)
	if err != nil {
		return ""
	}
	defer in.Close()
	digest, err := digestOf(in.FS(), filepath.ToSlash(name))
	if err != nil {
		return ""
	}
	return digest
}

var errTooMuch = errors.New("it is too large for a program")

// digestOf digests a file, or all files of a folder.
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
		_, _ = fmt.Fprintf(all, "%q %s\n", path, d.Type()) // a hash never fails
		if info, err := fs.Stat(in, path); err != nil || !info.Mode().IsRegular() {
			return nil // a link that leads outside, or nowhere
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
