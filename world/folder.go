package world

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/app-sre/prcheck/internal/git"
)

// maxFiles bounds how many files a folder without git may have.
const maxFiles = 100_000

// cacheTag begins the file CACHEDIR.TAG, with which a program says that a folder is its cache; see
// https://bford.info/cachedir.
const cacheTag = "Signature: 8a477f597d28d172789f06886806bc55"

// OfFolder returns the tree of a folder without git: all of its files and links, but those in caches.
func OfFolder(ctx context.Context, dir string, o WorkTreeOptions) (*Tree, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	r := &workReader{options: o, root: root, digits: 64}
	r.tree = &Tree{root: root, links: map[string]string{}, onDisk: map[string]bool{}, committed: map[string]string{}}
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		below, err := filepath.Rel(root, name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && below != "." && isCache(name):
			return fs.SkipDir
		case d.IsDir():
			return nil
		case len(r.tree.files) == maxFiles:
			return errors.New("the folder has more than 100,000 files: name a smaller one, or put it under git")
		}
		return r.addOther(ctx, filepath.ToSlash(below))
	})
	if err != nil {
		return nil, err
	}
	err = r.tree.finish(r.digits)
	r.tree.id = "sha256:" + r.tree.id
	r.tree.edited = nil
	return r.tree, err
}

// isCache reports whether a folder is the cache of some program.
func isCache(folder string) bool {
	name := filepath.Join(folder, "CACHEDIR.TAG")
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, len(cacheTag))
	n, _ := f.Read(start)
	return strings.HasPrefix(string(start[:n]), cacheTag)
}

// readConversions notes which settings of the repository decide how a checkout converts files.
func (t *Tree) readConversions(ctx context.Context) error {
	settings, err := git.ReadSettings(ctx, t.gitDir)
	if err != nil {
		return err
	}
	t.conversions = conversionsOf(settings, t.files)
	return nil
}

// conversionsOf returns a text that stands for what may convert files, "" when nothing may.
func conversionsOf(s git.Settings, files []File) string {
	if s.AutoCRLF == "input" {
		s.AutoCRLF = ""
	}
	text := ""
	for _, part := range []string{s.AutoCRLF, s.EOL, s.Attributes} {
		if part != "" {
			text += part + "\n"
		}
	}
	for _, f := range files {
		if f.Path == ".gitattributes" || strings.HasSuffix(f.Path, "/.gitattributes") {
			return text + "attributes\n"
		}
	}
	return text
}
